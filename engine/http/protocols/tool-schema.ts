import { isObject } from '@orpc/shared'

/**
 * The keywords of JSON Schema that Claude, OpenAI and Gemini accept in the schema of a tool:
 *
 * - Gemini refuses a request with any other keyword: https://ai.google.dev/api/caching#Schema. It requires `type`, accepts
 *   only texts in `enum`, only the format `date-time`, and no keyword beside `anyOf`.
 * - Claude refuses `anyOf` at the root, `$ref`, and names of properties with other characters than `propertyName`:
 *   https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use
 * - OpenAI requires an object at the root: https://platform.openai.com/docs/guides/function-calling and
 *   https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
 */
export const toolSubset = {
  keywords: [
    ...['type', 'title', 'description', 'enum', 'anyOf', 'default'],
    ...['properties', 'required', 'items', 'minItems', 'maxItems'],
    ...['minimum', 'maximum', 'minLength', 'maxLength', 'pattern', 'format'],
  ],
  types: ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'],
  formats: ['date-time'],
  name: /^[\w-]{1,64}$/,
  propertyName: /^[\w.-]{1,64}$/,
} as const

export type JsonSchema = Readonly<Record<string, unknown>>

/** Keywords that say nothing to a model, or that the subset expresses by other keywords. */
const SILENT = [
  '$schema',
  'x-native-type',
  'readOnly',
  'additionalProperties',
  'const',
  'prefixItems',
  'propertyNames',
]

const schemasIn = (value: unknown) => (Array.isArray(value) ? value.filter(isObject) : [])

const optionsOf = ({ anyOf, oneOf }: JsonSchema) => schemasIn(anyOf ?? oneOf)

/** Adds sentences to the description of a schema. The description of a union belongs to its first option. */
function describe(schema: JsonSchema, ...remarks: unknown[]): JsonSchema {
  const [first, ...others] = optionsOf(schema)
  const added = remarks.filter((remark) => typeof remark === 'string' && remark !== '')
  if (added.length === 0) return schema
  if (first) return { anyOf: [describe(first, ...added), ...others] }
  const texts = [schema.description, ...added].flatMap((text) => (typeof text === 'string' ? text : []))
  return { ...schema, description: texts.map((text) => text.replace(/\.?$/, '.')).join(' ') }
}

/** A value of any type, up to two levels. Gemini has no schema for any value. */
const scalars = ['string', 'number', 'boolean', 'null', 'object'].map((type) => ({ type }))
const ANY = { anyOf: [...scalars, { type: 'array', items: { anyOf: scalars } }] }

const typeOf = (value: unknown) => (value === null ? 'null' : typeof value)

/** Converts the values of an enumeration. Only texts can be listed; other values are named in the description. */
function fromValues(values: readonly unknown[]): JsonSchema {
  const types = [...new Set(values.map(typeOf))]
  const schemas = types.map((type) => {
    const own = values.filter((value) => typeOf(value) === type)
    if (type === 'string') return { type, enum: own }
    return type === 'null' ? { type } : { type, description: `One of: ${own.join(', ')}` }
  })
  return union(schemas)
}

function union(options: readonly JsonSchema[]): JsonSchema {
  const flat = options.flatMap((option) => ('anyOf' in option ? optionsOf(option) : [option]))
  const [first, ...others] = [...new Map(flat.map((option) => [JSON.stringify(option), option])).values()]
  return others.length === 0 ? (first ?? ANY) : { anyOf: [first, ...others] }
}

/** Merges two schemas that a value must both fulfil. */
function merge(a: JsonSchema, b: JsonSchema): JsonSchema {
  const required = [...new Set([...listIn(a.required), ...listIn(b.required)])]
  return {
    ...a,
    ...b,
    ...(a.properties || b.properties
      ? { properties: { ...Object(a.properties), ...Object(b.properties) } as JsonSchema }
      : {}),
    ...(required.length > 0 && { required }),
  }
}

const listIn = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** Converts a schema to the subset. `anyValue` replaces a part that accepts any value. Without `anyValue`, the result is undefined. */
function toSubset(schema: unknown, anyValue: JsonSchema | undefined): JsonSchema | undefined {
  if (!isObject(schema)) return anyValue
  const { anyOf, oneOf, allOf, not, ...rest } = schema
  const all = schemasIn(allOf)
  if (all.length > 0) {
    // An intersection of unions has no such form: its description remains.
    const merged = all.map((each) => flatten(each)).reduce(merge, rest)
    return toSubset(merged, anyValue)
  }
  const options = optionsOf({ anyOf, oneOf })
  const { description, default: initial } = rest
  if (options.length > 0) {
    const converted = options.map((option) => toSubset(option, anyValue))
    const isComplete = converted.every((option) => option !== undefined)
    return isComplete
      ? describe(
          union(converted),
          description,
          initial === undefined ? '' : `Default: ${JSON.stringify(initial)}`,
        )
      : undefined
  }
  if ('const' in rest) return describe(fromValues([rest.const]), description)
  if (Array.isArray(rest.enum)) return describe(fromValues(rest.enum), description)
  // JSON Schema has `not` for a value that cannot exist (`z.never()`), and the subset no such schema.
  if (not) return { type: 'null' }
  if (typeof rest.type !== 'string') return anyValue && describe(anyValue, description)
  const parts = partsIn(rest, anyValue)
  return parts && describe({ ...pickKeywords(rest), ...parts.schema }, ...parts.remarks, ...droppedIn(rest))
}

/** Converts the parts of an object or a list. */
function partsIn(
  { type, properties, items, prefixItems, additionalProperties }: JsonSchema,
  anyValue: JsonSchema | undefined,
) {
  if (type === 'object') {
    const values = isObject(additionalProperties) ? toSubset(additionalProperties, anyValue) : undefined
    const entries = Object.entries(Object(properties) as JsonSchema).map(
      ([name, part]) => [name, toSubset(part, anyValue)] as const,
    )
    if (entries.some(([, part]) => part === undefined)) return undefined
    return {
      schema: entries.length > 0 ? { properties: Object.fromEntries(entries) } : {},
      remarks: values ? [`The values of the properties: ${JSON.stringify(values)}`] : [],
    }
  }
  if (type !== 'array') return { schema: {}, remarks: [] }
  const positions = schemasIn(prefixItems).map((part) => toSubset(part, anyValue))
  const others = items === undefined && positions.length > 0 ? [] : [toSubset(items, anyValue)]
  const all = [...positions, ...others]
  if (!all.every((part) => part !== undefined)) return undefined
  const size = others.length === 0 ? { minItems: positions.length, maxItems: positions.length } : {}
  return {
    schema: { items: union(all), ...size },
    remarks: positions.length > 0 ? [`The items in this order: ${JSON.stringify(positions)}`] : [],
  }
}

const isKept = ([keyword, value]: [string, unknown]) =>
  toolSubset.keywords.some((supported) => supported === keyword) &&
  (keyword !== 'format' || toolSubset.formats.some((format) => format === value))

const pickKeywords = (schema: JsonSchema): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(isKept))

/** Names the keywords that the subset lacks, for example `exclusiveMinimum: 0`. */
const droppedIn = (schema: JsonSchema) =>
  Object.entries(schema).flatMap(([keyword, value]) =>
    isKept([keyword, value]) || SILENT.includes(keyword) || value === undefined
      ? []
      : [`${keyword}: ${typeof value === 'string' ? value : JSON.stringify(value)}`],
  )

/** Returns whether all values of a schema are objects. */
export function isObjectSchema(schema: JsonSchema): boolean {
  const options = optionsOf(schema)
  if (options.length > 0) return options.every(isObjectSchema)
  return schema.type === 'object' || schemasIn(schema.allOf).some(isObjectSchema)
}

/** Converts a union of objects to one object with the properties of all. Only the common required properties remain. */
function flatten(schema: JsonSchema): JsonSchema {
  const options = optionsOf(schema).map(flatten)
  const [first] = options
  if (!first || !options.every(({ type }) => type === 'object')) return schema
  const names = [
    ...new Set(options.flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : []))),
  ]
  const property = (name: string) =>
    union(options.flatMap(({ properties }) => schemasIn([(Object(properties) as JsonSchema)[name]])))
  const isRequired = (name: string) => options.every(({ required }) => listIn(required).includes(name))
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, property(name)])),
    required: names.filter(isRequired),
    ...(typeof schema.description === 'string' && { description: schema.description }),
  }
}

/** Converts the JSON Schema of an input to the schema of a tool. */
export function toToolInput(schema: JsonSchema): JsonSchema {
  return { properties: {}, ...toSubset(asObject(schema), ANY), type: 'object' }
}

/**
 * Converts the JSON Schema of an output to the schema of the result of a tool. An output that is no object becomes
 * `{ result }`. Undefined if a part can have any value: clients check results, and the subset cannot express this.
 */
export function toToolOutput(schema: JsonSchema): JsonSchema | undefined {
  const result = isObjectSchema(schema)
    ? asObject(schema)
    : { type: 'object', properties: { result: schema }, required: ['result'] }
  return toSubset(result, undefined)
}

/** Makes the root an object, as the root of a union or an intersection of objects is refused. */
function asObject(schema: JsonSchema): JsonSchema {
  const { allOf, ...rest } = schema
  const all = schemasIn(allOf)
  if (all.length > 0) return all.map(asObject).reduce(merge, rest)
  const { required, ...flat } = flatten(schema)
  return { ...flat, ...(listIn(required).length > 0 && { required }) }
}
