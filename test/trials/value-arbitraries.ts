import fc from 'fast-check'

import type { Schema } from './api-operations.ts'

/** Placeholder for the marker of the caller. The marker is a word that must not occur in responses to other callers. */
export const MARKER = '(marker)'
/** Placeholder for a text above the size limit of a body. */
export const OVERSIZED = '(huge)'

const word = fc.oneof(
  fc.constant(`word ${MARKER}`),
  fc.string({ maxLength: 20 }).map((text) => text + MARKER),
)

/** Generates values that match a schema. */
export function validValue(schema: Schema): fc.Arbitrary<unknown> {
  const { type, format, enum: allowed, properties, minimum = -5, maximum = 20 } = schema
  if (allowed) return fc.constantFrom(...allowed)
  if (properties) return fc.record(validFields(properties))
  if (format === 'email') return fc.constantFrom('nobody@example.com', 'Somebody.Else@Example.org')
  if (type === 'integer' || type === 'number') return fc.integer({ min: minimum, max: maximum })
  return type === 'array' ? fc.constant([]) : word
}

const validFields = (properties: Record<string, Schema>) =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, validValue(schema)]))

const DEPTH = 2000
const nested = Array.from({ length: DEPTH }).reduce<unknown>((inner) => [inner], 1)

export const prototypeKeys = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'then',
  'toJSON',
]

const unusualValue = fc.oneof(
  fc.jsonValue(),
  fc.string({ unit: 'binary' }),
  fc.dictionary(fc.constantFrom(...prototypeKeys), fc.jsonValue()),
  fc.constantFrom<unknown[]>(null, true, [], {}, '', -0, 1e308, 5e-324, 2 ** 53, 'NaN', '1e3', '0x10'),
  fc.constantFrom<unknown[]>('\0', '\ud800', '\udfff x', '\u202e', OVERSIZED, nested),
)

/**
 * Values that violate the bounds of a schema: texts that are blank or one character too long, numbers just outside the
 * range, and a fraction.
 */
const outOfBounds = ({ maxLength = 0, minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Schema) =>
  fc.constantFrom('x'.repeat(maxLength + 1), '💩'.repeat(maxLength + 1), ' ', minimum - 1, maximum + 1, 0.5)

/** Generates values that violate a schema: another type, out of bounds, missing fields, or an additional field. */
export function invalidValue({ properties, ...schema }: Schema): fc.Arbitrary<unknown> {
  if (!properties) return fc.oneof(unusualValue, outOfBounds(schema))
  const good = validFields(properties)
  const names = fc.constantFrom(...prototypeKeys, 'id', 'userId', 'role', 'createdAt')
  return fc.oneof(
    unusualValue,
    fc.record(good, { requiredKeys: [] }),
    fc
      .tuple(fc.record(good), names, unusualValue)
      .map(([value, name, additional]) => Object.fromEntries([...Object.entries(value), [name, additional]])),
    ...Object.entries(properties).map(([name, inner]) => ({
      arbitrary: fc.record({ ...good, [name]: invalidValue(inner) }),
      weight: 3,
    })),
  )
}

/**
 * RPC bodies with one entry in `meta`, the list of value types in the format of oRPC. The entries combine every type,
 * and an unknown type, with paths that exist and paths that do not exist.
 */
const rpcMetaBodies = Array.from({ length: 9 }, (_, type) =>
  [['taskTitle'], ['id'], ['__proto__', 'role'], [4_294_967_294], []].map((path) =>
    JSON.stringify({ json: { id: 1, taskTitle: `/(${MARKER}/` }, meta: [[type, ...path]] }),
  ),
).flat()

const longArray = `{"a":[${'[],'.repeat(20_000)}1]}`
const deepArray = `{"json":{"taskTitle":${'['.repeat(200_000)}${']'.repeat(200_000)}}}`

const deepObject = `${'{"a":'.repeat(DEPTH)}1${'}'.repeat(DEPTH)}`

/** Bodies that are not JSON, unusual JSON values, and JSON of extreme size or depth. */
export const invalidBodies = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '',
    '{',
    '{"id":',
    '{}}',
    'null',
    '1',
    '"x"',
    '[]',
    "{'a':1}",
    '{"a":NaN}',
    '{"a":1,"a":2}',
  ),
  fc.constantFrom(...rpcMetaBodies),
  fc.constantFrom(longArray, deepArray, longArray, deepObject),
  fc.constantFrom(
    '\ufeff{}',
    '\0',
    OVERSIZED,
    '['.repeat(DEPTH),
    deepObject,
    '{"__proto__":{"role":"admin"}}',
  ),
)
