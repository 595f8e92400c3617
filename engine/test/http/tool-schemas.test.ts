import { describe, expect, test } from 'vitest'
import * as z from 'zod'

import { toToolInput, toToolOutput } from '../../http/protocols/tool-schema.ts'
import { schemaConverter } from '../../openapi/document.ts'
import { listRefusedIn } from '../../dev/testing/laws/tools.ts'

const input = (schema: z.ZodType) => toToolInput(schemaConverter.convert(schema, { strategy: 'input' })[1])
const output = (schema: z.ZodType) => toToolOutput(schemaConverter.convert(schema, { strategy: 'output' })[1])

describe('the input of a tool', () => {
  test('that is a union becomes one object with the properties of all options', () => {
    const Union = z.union([
      z.object({ kind: z.literal('a'), at: z.date() }),
      z.object({ kind: z.literal('b'), n: z.number().optional() }),
    ])

    expect(input(Union)).toEqual({
      type: 'object',
      properties: {
        kind: {
          anyOf: [
            { type: 'string', enum: ['a'] },
            { type: 'string', enum: ['b'] },
          ],
        },
        at: { type: 'string', format: 'date-time' },
        n: { type: 'number' },
      },
      required: ['kind'],
    })
  })

  test('names bounds that the subset lacks in the description', () => {
    const Bounds = z.object({ n: z.number().gt(0).meta({ description: 'A number' }), one: z.literal([1, 2]) })

    expect(input(Bounds).properties).toEqual({
      n: { type: 'number', description: 'A number. exclusiveMinimum: 0.' },
      one: { type: 'number', description: 'One of: 1, 2' },
    })
  })
})

describe('the output of a tool', () => {
  test('that is no object becomes the property `result`', () => {
    expect(output(z.array(z.string()))).toEqual({
      type: 'object',
      properties: { result: { type: 'array', items: { type: 'string' } } },
      required: ['result'],
    })
    expect(output(z.void())).toMatchObject({ properties: { result: { type: 'null' } } })
  })

  test('has no schema if a part can have any value', () => {
    expect(output(z.object({ data: z.unknown() }))).toBeUndefined()
  })
})

describe('the law of tools', () => {
  test.each([
    [{ type: 'object', anyOf: [] }, 'anyOf at the root'],
    [{ type: 'array', items: { type: 'string' } }, 'The root is no object'],
    [{ type: 'object', properties: { a: { type: 'number', exclusiveMinimum: 0 } } }, '.a: exclusiveMinimum'],
    [{ type: 'object', properties: { a: {} } }, '.a: the type undefined'],
    [{ type: 'object', properties: { a: { type: 'string', format: 'uuid' } } }, '.a: the format "uuid"'],
    [
      { type: 'object', properties: { a: { type: 'number', enum: [1] } } },
      '.a: a value other than a text in enum',
    ],
    [{ type: 'object', properties: { 'a b': { type: 'null' } } }, ': the name a b'],
    [{ type: 'object', properties: { a: { description: '', anyOf: [] } } }, '.a: description beside anyOf'],
  ])('finds %j', (schema, problem) => {
    expect(listRefusedIn(schema)).toContain(problem)
  })
})
