import type * as z from 'zod'

/** The part of an export that a resource declares. */
export interface ExportPart {
  /** The data in the part, for the description of the export. */
  contents: readonly string[]
  /** The schema of each field. */
  shape: Readonly<Record<string, z.ZodType>>
  example: object
}

export type ExportParts = Readonly<Record<string, ExportPart>>

/**
 * Declares the part of a resource, for example of loans: the shape `{ loans: z.array(Loan) }`. The resource registers
 * the queries of the part (`personalData`).
 */
export const exportPart = <const Shape extends ExportPart['shape']>(part: {
  contents: readonly string[]
  shape: Shape
  example: z.output<z.ZodObject<Shape>>
}) => part

export type DataOf<Part extends ExportPart> = z.output<z.ZodObject<Part['shape']>>

/** The intersection of the members of a union: a function that accepts each of the members accepts only their intersection. */
type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never

/** The data of all parts in one object. */
export type DataOfAll<Parts extends ExportParts> = Intersection<
  { [Name in keyof Parts]: DataOf<Parts[Name]> }[keyof Parts]
>
