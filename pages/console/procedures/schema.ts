/** A field of the form for an input. */
export interface Field {
  name: string
  /** `choices` for lists of chosen values, and `json` for objects, other lists and alternatives. */
  kind: 'text' | 'time' | 'number' | 'boolean' | 'choice' | 'choices' | 'json'
  isRequired: boolean
  isNullable: boolean
  description: string
  /** The schema of the field, with its type and its bounds. */
  schema: Record<string, unknown>
  /** The values of a choice, or of the items of a list. */
  choices: readonly unknown[]
  /** Whether the text can have several lines. */
  isLong: boolean
}

type Schema = Record<string, unknown>

/** Length of a text that needs several lines, in characters. */
const LONG = 1000

export const isRecord = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Returns the fields of the schema of an object: the parameters of the path first, and then the required fields. Returns undefined
 * if a form cannot show the schema.
 */
export function fieldsOf(schema: Schema | null, path: string): Field[] | undefined {
  if (!schema) return []
  const { type, properties = {}, required, anyOf, oneOf, allOf } = schema
  if (type !== 'object' || !isRecord(properties) || anyOf || oneOf || allOf) return undefined
  const names: readonly unknown[] = Array.isArray(required) ? required : []
  const fields = Object.entries(properties).map(([name, property]) =>
    fieldOf(name, isRecord(property) ? property : {}, names.includes(name)),
  )
  const rankOf = ({ name, isRequired }: Field) => {
    const index = parameters.indexOf(name)
    return index >= 0 ? index - parameters.length : Number(!isRequired)
  }
  const parameters = [...path.matchAll(/\{\+?([^}]+)\}/g)].map(([, name = '']) => name)
  return fields.sort((a, b) => rankOf(a) - rankOf(b))
}

/**
 * Returns examples of the required properties, and of an optional one with `isChange`: their own examples, those of the same names in the
 * output, or values of their types. Returns undefined without such an example.
 */
export function exampleOf(schema: Schema | null, output?: unknown, isChange = false) {
  const { properties, required } = schema ?? {}
  if (!isRecord(properties) || !Array.isArray(required)) return undefined
  const outputs = isRecord(output) ? output : {}
  const changed = Object.keys(properties).find((name) => !required.includes(name) && name in outputs)
  const names: readonly unknown[] = isChange ? [...(required as readonly unknown[]), changed] : required
  const members = Object.entries(properties).flatMap(([name, property]): [string, unknown][] => {
    if (!names.includes(name) || !isRecord(property)) return []
    if (Array.isArray(property.examples)) return [[name, (property.examples as readonly unknown[])[0]]]
    if (name in outputs) return [[name, outputs[name]]]
    const value = valueOf(property)
    return value === undefined ? [] : [[name, value]]
  })
  return members.length > 0 ? Object.fromEntries(members) : undefined
}

/** Returns a value of a schema that many services accept: its default, its first choice, or an e-mail address. */
const valueOf = (schema: Schema): unknown =>
  schema.default ?? choicesOf(schema)[0] ?? (schema.format === 'email' ? 'ada@example.com' : undefined)

function fieldOf(name: string, property: Schema, isRequired: boolean): Field {
  const [schema, isNullable] = withoutNull(property)
  const { description, maxLength } = { ...property, ...schema }
  const choices = choicesOf(schema)
  return {
    name,
    kind: kindOf(schema, choices),
    isRequired,
    isNullable,
    description: typeof description === 'string' ? description : '',
    schema: property,
    choices,
    isLong: typeof maxLength === 'number' && maxLength >= LONG,
  }
}

/** Returns the schema without its alternative `null`, and whether the schema has this alternative. */
function withoutNull(schema: Schema): [Schema, boolean] {
  const { anyOf, oneOf, type } = schema
  if (Array.isArray(type)) {
    const types: readonly unknown[] = type.filter((each) => each !== 'null')
    const [only] = types
    return [{ ...schema, type: types.length === 1 ? only : types }, type.includes('null')]
  }
  const alternatives: unknown = anyOf ?? oneOf
  if (!Array.isArray(alternatives)) return [schema, false]
  const others: readonly unknown[] = alternatives.filter((each) => !isRecord(each) || each.type !== 'null')
  const [only] = others
  const isNullable = others.length < alternatives.length
  return [others.length === 1 && isRecord(only) ? only : schema, isNullable]
}

const choicesOf = (schema: Schema): readonly unknown[] => {
  if (schema.type === 'array') return isRecord(schema.items) ? choicesOf(schema.items) : []
  if (Array.isArray(schema.enum)) return schema.enum
  return 'const' in schema ? [schema.const] : []
}

function kindOf({ type, format, anyOf, oneOf }: Schema, choices: readonly unknown[]): Field['kind'] {
  if (anyOf || oneOf) return 'json'
  if (choices.length > 0) return type === 'array' ? 'choices' : 'choice'
  if (type === 'string') return format === 'date-time' ? 'time' : 'text'
  if (type === 'number' || type === 'integer') return 'number'
  return type === 'boolean' ? 'boolean' : 'json'
}
