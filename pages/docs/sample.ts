import { isRecord } from '../console/procedures/schema.ts'

/** Returns a value that fits a schema: its example, its first alternative, and the smallest values otherwise. */
export function sampleOf(schema: unknown): unknown {
  if (!isRecord(schema)) return null
  const { const: only, enum: choices, anyOf, oneOf, examples, properties, type } = schema
  for (const list of [examples, choices]) if (isFilled(list)) return list[0]
  for (const list of [anyOf, oneOf]) if (isFilled(list)) return sampleOf(list[0])
  if (only !== undefined) return only
  if (isRecord(properties))
    return Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, sampleOf(each)]))
  if (type === 'array') return []
  if (type === 'string') return ''
  if (type === 'boolean') return false
  return type === 'integer' || type === 'number' ? 0 : null
}

const isFilled = (value: unknown): value is readonly unknown[] => Array.isArray(value) && value.length > 0
