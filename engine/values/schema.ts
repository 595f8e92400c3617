import type { AnySchema } from '@orpc/contract'
import { z } from 'zod'

export type Schema = z.core.$ZodType

/** A schema inside another schema. */
export interface Part {
  schema: Schema
  /** Where a value of the part is in a value of the schema: a property, or `*` for items. Undefined for the same value. */
  name?: string
}

interface Schemas {
  inputSchema?: AnySchema
  outputSchema?: AnySchema
}

/** Returns the schemas of a procedure from oRPC's internal property `~orpc`. */
export const schemasOf = (procedure: { '~orpc': Schemas }): Schemas => procedure['~orpc']

export const isZod = (schema: AnySchema | undefined): schema is AnySchema & Schema =>
  schema !== undefined && '_zod' in schema

/** The definition of a schema. `type` tells its other properties. */
export const definitionOf = (schema: Schema) => (schema as z.core.$ZodTypes)._zod.def

/** Returns the class of `z.instanceof`. */
export const classOf = (schema: Schema) => schema._zod.bag.Class

/** Returns whether REST and tools carry the instances of a class, as texts. */
export const isCarriedClass = (value: unknown) => value === URL || value === Date

const items = (...schemas: (Schema | null | undefined)[]): Part[] =>
  schemas.flatMap((schema) => (schema ? [{ schema, name: '*' }] : []))

/** Lists the parts of a schema. A pipe has the part that the caller sends (`input`) or receives (`output`). */
export function partsOf(schema: Schema, io: 'input' | 'output'): Part[] {
  const def = definitionOf(schema)
  switch (def.type) {
    case 'object':
      return [
        ...Object.entries(def.shape).map(([name, property]) => ({ schema: property, name })),
        ...items(def.catchall),
      ]
    case 'array':
      return items(def.element)
    case 'set':
    case 'record':
      return items(def.valueType)
    case 'map':
      return items(def.keyType, def.valueType)
    case 'tuple':
      return items(...def.items, def.rest)
    case 'union':
      return def.options.map((option) => ({ schema: option }))
    case 'intersection':
      return [{ schema: def.left }, { schema: def.right }]
    case 'pipe':
      return [{ schema: io === 'input' && !isPreprocessed(schema) ? def.in : def.out }]
    case 'lazy':
      return [{ schema: def.getter() }]
    default:
      return 'innerType' in def ? [{ schema: def.innerType }] : []
  }
}

/** Returns whether a schema is `z.preprocess`. */
export function isPreprocessed(schema: Schema) {
  const def = definitionOf(schema)
  return def.type === 'pipe' && isTransform(def.in)
}

export const isTransform = (schema: Schema) => definitionOf(schema).type === 'transform'

/** Returns whether a schema, or a schema inside it, fulfils a condition. */
export function someSchema(
  schema: Schema,
  condition: (schema: Schema) => boolean,
  seen = new Set<Schema>(),
): boolean {
  if (seen.has(schema)) return false
  seen.add(schema)
  const def = definitionOf(schema)
  const sides = def.type === 'pipe' ? [def.in, def.out] : partsOf(schema, 'input').map((part) => part.schema)
  return condition(schema) || sides.some((side) => someSchema(side, condition, seen))
}

/** Returns the types that a value of a schema can have, for example `date` and `null` for `z.date().nullable()`. */
export function typesOf(schema: Schema, io: 'input' | 'output', seen = new Set<Schema>()): Set<string> {
  if (seen.has(schema)) return new Set()
  seen.add(schema)
  const def = definitionOf(schema)
  const own = {
    nullable: ['null'],
    optional: ['undefined'],
    void: ['undefined'],
    literal: 'values' in def ? def.values.map((value) => (value === null ? 'null' : typeof value)) : [],
  }[def.type as string]
  const parts = partsOf(schema, io).filter(({ name }) => name === undefined)
  if (!own && parts.length === 0) return new Set([def.type])
  return new Set([...(own ?? []), ...parts.flatMap((part) => [...typesOf(part.schema, io, seen)])])
}
