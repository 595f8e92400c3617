import type { AnySchema } from '@orpc/contract'
import { z } from 'zod'

import { InvalidOutput } from '../output.ts'

export type Serialize = (value: unknown) => string

/**
 * Creates the serializer of an output schema. The serializer returns the same text as
 * `JSON.stringify(schema.parse(value))`, in about the time of `JSON.stringify(value)`, and throws InvalidOutput if a
 * value violates the schema. If the schema permits values that JSON cannot represent, the result is undefined instead
 * of a serializer.
 */
export function createSerializer(schema: AnySchema | undefined): Serialize | undefined {
  if (!(schema instanceof z.ZodType) || !isJson(schema)) return undefined
  const write = writerOf(schema)
  return (value) => {
    try {
      return write(value)
    } catch (error) {
      if (error !== MISMATCH) throw error
      throw new InvalidOutput(schema.safeParse(value).error?.issues)
    }
  }
}

function isJson(schema: z.ZodType) {
  try {
    return Boolean(z.toJSONSchema(schema)) && !schema.safeParse(undefined).success
  } catch {
    return false
  }
}

/**
 * Shared, because creating an error for each mismatch would record a stack trace each time (slow). This error carries
 * no details: zod validates the value again to list the issues.
 */
const MISMATCH = new Error('A value breaks its schema')

const isBare = (schema: z.core.$ZodType) => !schema._zod.def.checks?.length

/**
 * Returns whether a schema rejects `undefined`. The writers of objects and arrays support only such schemas, because
 * `JSON.stringify` omits `undefined` in objects, and writes null in arrays.
 */
const isPresent = (schema: z.core.$ZodType) =>
  schema._zod.optout === undefined && !z.safeParse(schema, undefined).success

/** Returns whether an object has no optional and no additional properties. */
const isFixed = ({ shape, def }: z.ZodObject) =>
  !def.catchall && Object.values<z.core.$ZodType>(shape).every(isPresent)

/**
 * Returns the function that validates and writes a value of a schema. If the schema has checks, or a type that this
 * function does not list, zod validates the value (slower).
 */
function writerOf(schema: z.core.$ZodType): Serialize {
  if (!isBare(schema)) return validating(schema)
  if (schema instanceof z.ZodObject && isFixed(schema)) return objectWriter(schema)
  if (schema instanceof z.ZodArray && isPresent(schema.element)) return arrayWriter(writerOf(schema.element))
  if (schema instanceof z.ZodNullable) {
    const write = writerOf(schema.unwrap())
    return (value) => (value === null ? 'null' : write(value))
  }
  if (schema instanceof z.ZodString) return writeText
  if (schema instanceof z.ZodISODateTime && schema.def.pattern) return patternWriter(schema.def.pattern)
  if (schema instanceof z.ZodNumber && schema.format === 'safeint') return writeInteger
  if (schema instanceof z.ZodBoolean) return choiceWriter([true, false])
  if (schema instanceof z.ZodEnum) return choiceWriter(schema.options)
  if (schema instanceof z.ZodLiteral) return choiceWriter([...schema.values])
  return validating(schema)
}

function validating(schema: z.core.$ZodType): Serialize {
  return (value) => {
    const result = z.safeParse(schema, value)
    if (!result.success) throw MISMATCH
    return JSON.stringify(result.data)
  }
}

function objectWriter({ shape }: z.ZodObject): Serialize {
  const fields = Object.entries<z.core.$ZodType>(shape).map(([name, schema], index) => ({
    name,
    key: `${index > 0 ? ',' : ''}${JSON.stringify(name)}:`,
    write: writerOf(schema),
  }))
  return (value) => {
    if (!isObject(value)) throw MISMATCH
    let text = '{'
    for (const { name, key, write } of fields) text += key + write(value[name])
    return text + '}'
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const arrayWriter =
  (write: Serialize): Serialize =>
  (value) => {
    if (!Array.isArray(value)) throw MISMATCH
    let text = ''
    for (const entry of value as unknown[]) text += (text && ',') + write(entry)
    return `[${text}]`
  }

function choiceWriter(options: readonly unknown[]): Serialize {
  const texts = new Map(options.map((option) => [option, JSON.stringify(option)]))
  return (value) => {
    const text = texts.get(value)
    if (text === undefined) throw MISMATCH
    return text
  }
}

const patternWriter =
  (pattern: RegExp): Serialize =>
  (value) => {
    if (typeof value !== 'string' || !pattern.test(value)) throw MISMATCH
    return writeText(value)
  }

const writeInteger: Serialize = (value) => {
  if (!Number.isSafeInteger(value)) throw MISMATCH
  return String(value)
}

const ESCAPED = /[\0-\x1f"\\\ud800-\udfff]/

const writeText: Serialize = (value) => {
  if (typeof value !== 'string') throw MISMATCH
  return ESCAPED.test(value) ? JSON.stringify(value) : `"${value}"`
}
