import { describe, expect, test } from 'vitest'
import * as z from 'zod'

import { ById } from '../../contract/schemas.ts'
import { createJsonDecoder, createRestDecoder } from '../../values/decode.ts'

const decodeQuery = (schema: z.ZodType, text: unknown) =>
  createRestDecoder(z.object({ value: schema }), { method: 'GET' })?.({ value: text }) as { value: unknown }
const decodeBody = (schema: z.ZodType, value: unknown) => createJsonDecoder(schema)?.(value) ?? value

describe('a text in a query', () => {
  test.each(['012', '0x1', ' 1', '', '1.', '.5', 'Infinity', 'NaN', '1_000', '+1'])(
    'such as %j is no number',
    (text) => {
      expect(decodeQuery(z.number(), text).value).toBe(text)
    },
  )

  test.each(['TRUE', 'on', '1', '', 'yes'])('such as %j is no boolean', (text) => {
    expect(decodeQuery(z.boolean(), text).value).toBe(text)
  })

  test.each(['2026-01-02', '2026-02-30T00:00:00Z', '1', '2026-01-02T03:04:05'])(
    'such as %j is no time',
    (text) => {
      expect(decodeQuery(z.date(), text).value).toBe(text)
    },
  )

  test('is a list with one item, or with several items if no item can contain a comma', () => {
    expect(decodeQuery(z.array(z.string()), 'a,b').value).toEqual(['a,b'])
    expect(decodeQuery(z.array(z.int()), '1,2').value).toEqual([1, 2])
    expect(decodeQuery(z.array(z.enum(['a', 'b'])), 'a,b').value).toEqual(['a', 'b'])
  })

  test('is the number of a union of numbers and texts', () => {
    expect(decodeQuery(z.union([z.string(), z.number()]), '7').value).toBe(7)
    expect(decodeQuery(z.union([z.string(), z.number()]), '07').value).toBe('07')
  })
})

describe('a value in a body', () => {
  test.each([
    [z.number(), '2'],
    [z.boolean(), 'true'],
    [z.array(z.number()), '1,2'],
    [z.bigint(), 7],
    [z.date(), 1767261600],
    [z.set(z.string()), ['a', 'a']],
    [z.instanceof(URL), '/path'],
  ])('of another type remains unchanged: %#', (schema, value) => {
    expect(decodeBody(z.object({ value: schema }), { value })).toEqual({ value })
  })

  test('needs no decoder if JSON has all of its types', () => {
    expect(createJsonDecoder(z.object({ n: z.number(), list: z.array(z.string()) }))).toBeUndefined()
    expect(createRestDecoder(ById, { method: 'GET', path: '/api/books/{id}' })).toBeUndefined()
  })
})
