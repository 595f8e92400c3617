import { isObject } from '@orpc/shared'

import { type JsonSchema, toolSubset } from 'tallystick/internal/http/protocols/tool-schema'
import { findTools } from 'tallystick/internal/http/protocols/tools'
import type { App } from 'tallystick/internal/app/resource'

const { keywords, types, formats, name: toolName, propertyName } = toolSubset

const includes = (values: readonly unknown[], value: unknown) => values.includes(value)

/** Lists what Claude, OpenAI or Gemini refuse in a schema, each with its position. */
export function listOutsideSubset(schema: unknown, path = ''): string[] {
  if (!isObject(schema)) return [`${path}: is no schema`]
  const { anyOf, ...others } = schema
  if (Array.isArray(anyOf))
    return [
      ...(path === '' ? ['anyOf at the root'] : []),
      ...Object.keys(others).map((keyword) => `${path}: ${keyword} beside anyOf`),
      ...anyOf.flatMap((option, index) => listOutsideSubset(option, `${path}.${index}`)),
    ]
  const { type, format, enum: values, properties, items } = others
  return [
    ...(includes(types, type) ? [] : [`${path}: the type ${String(type)}`]),
    ...(path === '' && type !== 'object' ? ['The root is no object'] : []),
    ...Object.keys(others).flatMap((keyword) => (includes(keywords, keyword) ? [] : [`${path}: ${keyword}`])),
    ...(format === undefined || includes(formats, format)
      ? []
      : [`${path}: the format ${JSON.stringify(format)}`]),
    ...(Array.isArray(values) && values.some((value) => typeof value !== 'string')
      ? [`${path}: a value other than a text in enum`]
      : []),
    ...Object.entries(isObject(properties) ? properties : {}).flatMap(([name, part]) => [
      ...(propertyName.test(name) ? [] : [`${path}: the name ${name}`]),
      ...listOutsideSubset(part, `${path}.${name}`),
    ]),
    ...(type === 'array' ? listOutsideSubset(items, `${path}.*`) : []),
  ]
}

/** Lists what clients refuse in the names and schemas of all tools. */
export const listRefusedTools = (app: Pick<App, 'router' | 'contract'>) =>
  [...findTools(app)].flatMap(([name, { config }]) => [
    ...(toolName.test(String(name)) ? [] : [`${String(name)}: the name of the tool`]),
    ...listOutsideSubset(jsonOf(config.inputSchema)).map((problem) => `${String(name)}, input ${problem}`),
    ...(config.outputSchema
      ? listOutsideSubset(jsonOf(config.outputSchema)).map((problem) => `${String(name)}, output ${problem}`)
      : []),
  ])

/** Returns the JSON Schema that `tools/list` publishes. */
const jsonOf = (schema: { '~standard': { jsonSchema: { input: (options: never) => unknown } } }) =>
  schema['~standard'].jsonSchema.input({} as never) as JsonSchema
