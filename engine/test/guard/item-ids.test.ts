import { expect, test } from 'vitest'
import * as z from 'zod'

import { ById } from '../../contract/schemas.ts'
import { readId } from '../../guard/conditions.ts'

const read = (inputSchema: z.ZodType, input: unknown) =>
  readId({ meta: {}, errorMap: {}, inputSchema }, input)

test('the guard reads an id as the contract decodes the id', () => {
  expect(read(ById, { id: '7' })).toEqual({ id: 7 })
  expect(read(ById, { id: '99999999999999999999' })).toEqual({ id: Number.MAX_SAFE_INTEGER })
  expect(read(z.object({ id: z.string() }), { id: 'a' })).toEqual({ id: 'a' })
})

test.each([{ id: 'abc' }, { id: '1.5' }, { id: null }, {}, 'text'])(
  'the guard looks for no item if the contract does not accept the id: %j',
  (input) => {
    expect(read(ById, input)).toBeUndefined()
  },
)

test('the guard passes the id as it is if the contract describes no id', () => {
  expect(read(z.object({}), { id: 'a' })).toEqual({ id: 'a' })
  expect(read(z.unknown(), { id: 5 })).toEqual({ id: 5 })
})
