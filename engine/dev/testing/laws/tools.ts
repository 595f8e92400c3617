import { isObject } from '@orpc/shared'

import { toolSubset } from 'tallystick/internal/http/protocols/tool-schema'
import { findTools } from 'tallystick/internal/http/protocols/tools'
import type { App } from 'tallystick/internal/app/resource'

const { keywords, types, formats, name: toolName, propertyName } = toolSubset

const includes = (values: readonly unknown[], value: unknown) => values.includes(value)

/** Lists what Claude, OpenAI or Gemini refuse in a JSON Schema (`toolSubset`), each with its position. */
export function listRefusedIn(schema: unknown, path = ''): string[] {
  if (!isObject(schema)) return [`${path}: is no schema`]
  const { anyOf, ...others } = schema
  if (Array.isArray(anyOf))
    return [
      ...(path === '' ? ['anyOf at the root'] : []),
      ...Object.keys(others).map((keyword) => `${path}: ${keyword} beside anyOf`),
      ...anyOf.flatMap((option, index) => listRefusedIn(option, `${path}.${index}`)),
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
      ...listRefusedIn(part, `${path}.${name}`),
    ]),
    ...(type === 'array' ? listRefusedIn(items, `${path}.*`) : []),
  ]
}

/** The MCP library requires a target. The tools of the engine publish the same JSON Schema for each target. */
const OPTIONS = { target: 'draft-2020-12' } as const

/** Lists what clients refuse in the names and schemas of all tools. */
export const listRefusedTools = (app: Pick<App, 'router' | 'contract'>) =>
  [...findTools(app)].flatMap(([key, { config }]) => {
    const name = String(key)
    const input = config.inputSchema['~standard'].jsonSchema.input(OPTIONS)
    const output = config.outputSchema?.['~standard'].jsonSchema.input(OPTIONS)
    return [
      ...(toolName.test(name) ? [] : [`${name}: the name of the tool`]),
      ...listRefusedIn(input).map((problem) => `${name}, input ${problem}`),
      ...(output ? listRefusedIn(output).map((problem) => `${name}, output ${problem}`) : []),
    ]
  })
