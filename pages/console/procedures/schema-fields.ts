import { isRecord } from './schema.ts'

type Schema = Record<string, unknown>

/** A field in the table of a schema. */
export interface SchemaField {
  name: string
  /** The type in the words of JSON Schema: `string | null`, `array of integer`, `"open" | "closed"`. */
  type: string
  isRequired: boolean
  bounds: Bounds
  description: string
  /** The fields of the objects in the value: of several objects for alternatives. */
  objects: readonly SchemaField[][]
}

export const hasBounds = ({ bounds }: Pick<SchemaField, 'bounds'>) => Object.values(bounds).some(Boolean)

export interface Bounds {
  /** As ranges: `1–500`, `≥ 1`. Empty without bounds. */
  characters: string
  items: string
  value: string
  pattern: string
  /** As JSON. Empty without a default. */
  initial: string
}

const asSchema = (value: unknown): Schema => (isRecord(value) ? value : {})
const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Returns the schema itself, or its alternatives. */
const alternativesOf = (schema: Schema): readonly Schema[] => {
  const list = [...asList(schema.anyOf), ...asList(schema.oneOf)].map(asSchema)
  return list.length > 0 ? list.flatMap(alternativesOf) : [schema]
}

/** Returns the fields of the objects in a schema: of the object, of the items of a list, and of all alternatives. */
export const objectsOf = (schema: Schema): SchemaField[][] =>
  alternativesOf(schema).flatMap((each) => {
    if (isRecord(each.items)) return objectsOf(each.items)
    const members = [each, ...asList(each.allOf).map(asSchema)].flatMap(fieldsOf)
    return members.length > 0 ? [members] : []
  })

function fieldsOf({ properties, required, additionalProperties }: Schema): SchemaField[] {
  const names = asList(required)
  const fields = Object.entries(asSchema(properties)).map(([name, schema]) =>
    fieldOf(name, asSchema(schema), names.includes(name)),
  )
  // Required fields first.
  fields.sort((a, b) => Number(b.isRequired) - Number(a.isRequired))
  return isRecord(additionalProperties) ? [...fields, fieldOf('[…]', additionalProperties, false)] : fields
}

const fieldOf = (name: string, schema: Schema, isRequired: boolean): SchemaField => ({
  name,
  type: typeOf(schema),
  isRequired,
  bounds: boundsOf(schema),
  description: typeof schema.description === 'string' ? schema.description : '',
  objects: objectsOf(schema),
})

export const typeOf = (schema: Schema): string =>
  [...new Set(alternativesOf(schema).map(simpleTypeOf))].join(' | ')

/** Returns the type, for an object with the names of its fields: `{ title, note? }`. */
export function shapeOf(schema: Schema) {
  const [members, ...others] = objectsOf(schema)
  if (!members || others.length > 0 || schema.type !== 'object') return typeOf(schema)
  return `{ ${members.map(({ name, isRequired }) => (isRequired ? name : `${name}?`)).join(', ')} }`
}

function simpleTypeOf(schema: Schema): string {
  const { type, format, items } = schema
  if ('const' in schema) return JSON.stringify(schema.const)
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (Array.isArray(type)) return type.join(' | ')
  if (type === 'array') return `array of ${isRecord(items) ? typeOf(items) : 'any'}`
  if (typeof type !== 'string') return schema.allOf || schema.properties ? 'object' : 'any'
  return typeof format === 'string' ? `${type} (${format})` : type
}

/** Returns the bounds of a schema: of its first alternative with bounds. */
export function boundsOf(schema: Schema): Bounds {
  const [first = schema] = alternativesOf(schema).filter((each) => each.type !== 'null')
  const { minLength, maxLength, minItems, maxItems, pattern, format } = first
  const initial = schema.default ?? first.default
  return {
    characters: rangeOf(minLength === 0 ? undefined : minLength, maxLength),
    items: rangeOf(minItems === 0 ? undefined : minItems, maxItems),
    value: [
      exclusive('>', first.exclusiveMinimum),
      rangeOf(first.minimum, first.maximum),
      exclusive('<', first.exclusiveMaximum),
    ]
      .filter(Boolean)
      .join(', '),
    // The type names the format.
    pattern: typeof pattern === 'string' && format === undefined ? pattern : '',
    initial: initial === undefined ? '' : JSON.stringify(initial),
  }
}

const exclusive = (sign: '<' | '>', bound: unknown) => (typeof bound === 'number' ? `${sign} ${bound}` : '')

/** Omits the bounds that every number of JavaScript has. */
function rangeOf(min: unknown, max: unknown) {
  const from = typeof min === 'number' && min > Number.MIN_SAFE_INTEGER ? min : undefined
  const to = typeof max === 'number' && max < Number.MAX_SAFE_INTEGER ? max : undefined
  if (from !== undefined && to !== undefined) return from === to ? `${from}` : `${from}–${to}`
  if (from !== undefined) return `≥ ${from}`
  return to === undefined ? '' : `≤ ${to}`
}
