import fc from 'fast-check'

import type { Schema } from './api-operations.ts'

/** Stands in a request for a word of its caller's own, that nobody else may ever be shown. */
export const MARK = '(mark)'
/** Stands for more than a body may have. */
export const HUGE = '(huge)'

const word = fc.oneof(
  fc.constant(`word ${MARK}`),
  fc.string({ maxLength: 20 }).map((some) => some + MARK),
)

/** What might be sent in good faith. */
export function goodOf(schema: Schema): fc.Arbitrary<unknown> {
  const { type, format, enum: some, properties, minimum = -5, maximum = 20 } = schema
  if (some) return fc.constantFrom(...some)
  if (properties) return fc.record(goodFields(properties))
  if (format === 'email') return fc.constantFrom('nobody@example.com', 'Somebody.Else@Example.org')
  if (type === 'integer' || type === 'number') return fc.integer({ min: minimum, max: maximum })
  return type === 'array' ? fc.constant([]) : word
}

const goodFields = (properties: Record<string, Schema>) =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, goodOf(schema)]))

const LEVELS = 2000
const nested = Array.from({ length: LEVELS }).reduce<unknown>((inner) => [inner], 1)

export const inherited = ['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'then', 'toJSON']

const odd = fc.oneof(
  fc.jsonValue(),
  fc.string({ unit: 'binary' }),
  fc.dictionary(fc.constantFrom(...inherited), fc.jsonValue()),
  fc.constantFrom<unknown[]>(null, true, [], {}, '', -0, 1e308, 5e-324, 2 ** 53, 'NaN', '1e3', '0x10'),
  fc.constantFrom<unknown[]>('\0', '\ud800', '\udfff x', '\u202e', HUGE, nested),
)

/** Just outside of what a schema allows. */
const edgesOf = ({ maxLength = 0, minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Schema) =>
  fc.constantFrom('x'.repeat(maxLength + 1), '💩'.repeat(maxLength + 1), ' ', minimum - 1, maximum + 1, 0.5)

/** What is good but for one place in it: of another type, out of bounds, missing, or too much. */
export function badOf({ properties, ...schema }: Schema): fc.Arbitrary<unknown> {
  if (!properties) return fc.oneof(odd, edgesOf(schema))
  const good = goodFields(properties)
  const names = fc.constantFrom(...inherited, 'id', 'userId', 'role', 'createdAt')
  return fc.oneof(
    odd,
    fc.record(good, { requiredKeys: [] }),
    fc
      .tuple(fc.record(good), names, odd)
      .map(([value, name, more]) => Object.fromEntries([...Object.entries(value), [name, more]])),
    ...Object.entries(properties).map(([name, inner]) => ({
      arbitrary: fc.record({ ...good, [name]: badOf(inner) }),
      weight: 3,
    })),
  )
}

/** Bodies over RPC that name every type of oRPC's `meta`, one that is none, and places that are not there. */
const metas = Array.from({ length: 9 }, (_, type) =>
  [['taskTitle'], ['id'], ['__proto__', 'role'], [4_294_967_294], []].map((place) =>
    JSON.stringify({ json: { id: 1, taskTitle: `/(${MARK}/` }, meta: [[type, ...place]] }),
  ),
).flat()

const many = `{"a":[${'[],'.repeat(20_000)}1]}`
const deeper = `{"json":{"taskTitle":${'['.repeat(200_000)}${']'.repeat(200_000)}}}`

const deep = `${'{"a":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}`

/** Bodies that are no JSON, or only just. */
export const texts = fc.oneof(
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
  fc.constantFrom(...metas),
  fc.constantFrom(many, deeper, many, deep),
  fc.constantFrom('\ufeff{}', '\0', HUGE, '['.repeat(LEVELS), deep, '{"__proto__":{"role":"admin"}}'),
)
