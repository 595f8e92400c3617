import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

import { InvalidOutput } from '../../src/output.ts'
import { createSerializer } from '../../src/http/serializer.ts'

/** Schemas with a compiled serializer, and schemas that fall back to zod. */
const schemas: Record<string, z.ZodType> = {
  text: z.string(),
  'bounded text': z.string().min(2).trim(),
  'a moment': z.iso.datetime(),
  'a whole number': z.int(),
  'a bounded number': z.int().min(3),
  number: z.number(),
  boolean: z.boolean(),
  null: z.null(),
  choice: z.enum(['a', '"', '\ud800']),
  literal: z.literal(['ok', 7, null]),
  nullable: z.string().nullable(),
  list: z.array(z.int()),
  'bounded list': z.array(z.string()).max(1),
  object: z.object({ a: z.string(), 'b"': z.object({ c: z.int().nullable() }), d: z.array(z.boolean()) }),
  'optional properties': z.object({ a: z.string().optional(), b: z.int(), c: z.string().default('x') }),
  'strict object': z.strictObject({ a: z.string() }),
  'loose object': z.looseObject({ a: z.string() }),
  record: z.record(z.string(), z.int()),
  union: z.union([z.object({ a: z.string() }), z.int(), z.array(z.object({ b: z.null() }))]),
  'unknown property': z.object({ a: z.unknown(), b: z.unknown().nullable() }),
  'list of unknown values': z.array(z.unknown()),
  refinement: z.string().refine((text) => text.length < 3),
}

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\ud800', '\u2028', '"', '2026-01-01T00:00:00.000Z', 'ok'),
)
const leaf = fc.oneof(
  text,
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constantFrom(null, undefined, -0, 7, 2 ** 53, { a: 'x' }, { a: 1 }),
)
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, leaf, fc.array(tie('value'), { maxLength: 3 }), tie('object')),
  object: fc.record(
    {
      d: fc.oneof(fc.array(fc.boolean()), tie('value')),
      b: leaf,
      a: leaf,
      'b"': fc.record({ c: leaf, leaked: leaf }),
      c: leaf,
    },
    { requiredKeys: [] },
  ),
}))

describe('a serializer', () => {
  test.each(Object.entries(schemas))(
    'writes the declared part of a value, byte for byte: %s',
    (_, schema) => {
      const serialize = createSerializer(schema)
      let written = 0

      fc.assert(
        fc.property(fc.oneof(value, leaf), (value) => {
          const { success, data } = schema.safeParse(value)
          if (success) written++
          if (success) expect(serialize?.(value)).toBe(JSON.stringify(data))
          else expect(() => serialize?.(value)).toThrow(InvalidOutput)
        }),
        { numRuns: 1000, seed: 7 },
      )
      expect(written).toBeGreaterThan(0)
    },
  )

  test('names the positions that violate the schema, without their values', () => {
    const serialize = createSerializer(
      z.object({ list: z.array(z.object({ name: z.string(), count: z.int() })) }),
    )
    const broken = {
      list: [
        { name: 'swordfish', count: 1 },
        { name: null, count: 'swordfish' },
      ],
    }

    try {
      serialize?.(broken)
      expect.unreachable()
    } catch (error) {
      expect(error).toMatchObject({ issues: [{ path: 'list.1.name' }, { path: 'list.1.count' }] })
      expect(JSON.stringify(error) + String((error as Error).stack)).not.toContain('swordfish')
    }
  })

  test.each([
    ['dates', z.object({ at: z.date() })],
    ['bigints', z.bigint()],
    ['nothing', z.string().optional()],
    ['transformed values', z.string().transform(Number)],
  ])('does not exist for %s', (_, schema) => {
    expect(createSerializer(schema)).toBeUndefined()
  })
})
