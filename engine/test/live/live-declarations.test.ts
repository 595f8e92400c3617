import { os } from '@orpc/server'
import type { InferContractRouterInputs } from '@orpc/contract'
import { describe, expect, expectTypeOf, test } from 'vitest'
import * as z from 'zod'
import {
  type ClientOf,
  isDefinedError,
  type LiveUpdateOf,
  type Meta,
  RowId,
  safe,
  text,
  type Topic,
  topic,
} from 'tallystick-contract'

import { mistakesOfTopics } from '../../start/define-app/mistakes/topics.ts'
import type { contract } from '../help-desk/contract.ts'

const state = z.object({ titles: z.array(z.string()) })
const OfProject = z.object({ projectId: RowId, search: z.string().optional() })
const declaration = { access: 'signedIn', state, input: OfProject } as const

/** Returns the mistakes of a topic, whose reader accepts an input. */
function mistakesOf(declared: Omit<Topic, 'name'>, input: z.ZodType | undefined = declared.input) {
  const reads = { name: 'tickets', ...declared }
  const meta: Meta = { reads }
  const procedure = os
    .$meta(meta)
    .input(input ?? z.object({}))
    .handler(() => 1)
  const resource = { description: '', procedures: { list: procedure } }
  return mistakesOfTopics(
    [{ operation: 'tickets.list', resource, resources: { tickets: resource }, procedure }],
    [resource],
  )
}

describe('a topic of parents', () => {
  test.each([
    ['a whole number', OfProject, undefined],
    ['a text', z.object({ projectId: text({ max: 36 }) }), undefined],
    ['a bigint', z.object({ projectId: z.bigint() }), undefined],
    ['an optional input of the reader', OfProject, OfProject.partial().optional()],
  ])('is accepted: %s', (_, input, readerInput) => {
    expect(mistakesOf({ ...declaration, input, of: 'projectId' }, readerInput)).toEqual([])
  })

  test.each([
    [
      'without the field',
      OfProject,
      'projectID',
      'but its `input` has no such field; did you mean projectId?',
    ],
    [
      'with an optional field',
      OfProject.partial(),
      'projectId',
      'the field must be a text or a number, and required',
    ],
    [
      'with a list',
      z.object({ projectId: z.array(z.int()) }),
      'projectId',
      'the field must be a text or a number, and required',
    ],
  ])('is refused %s', (_, input, of, sentence) => {
    const [mistake] = mistakesOf({ ...declaration, input, of })

    expect(mistake).toContain(`The topic tickets is \`of: '${of}'\``)
    expect(mistake).toContain(sentence)
  })

  test('is refused without an input, and if the reader has no such field', () => {
    expect(mistakesOf({ access: 'signedIn', state, of: 'projectId' })).toEqual([
      "The topic tickets is `of: 'projectId'`, but its `input` has no such field",
    ])
    expect(mistakesOf({ ...declaration, of: 'projectId' }, z.object({ project: RowId }))).toEqual([
      "The topic tickets is `of: 'projectId'`, but the procedure that reads the topic has no such field",
    ])
  })

  test('names a required text or number of its input, or is a compile error', () => {
    topic('tickets', { ...declaration, of: 'projectId' })
    // @ts-expect-error The input has no field with this name
    topic('tickets', { ...declaration, of: 'projectID' })
    // @ts-expect-error The field is optional
    topic('tickets', { ...declaration, of: 'search' })
    // @ts-expect-error There is no input
    topic('tickets', { access: 'signedIn', state, of: 'projectId' })
  })
})

describe('the types of live.watch', () => {
  type Watch = InferContractRouterInputs<typeof contract>['live']['watch']
  type Update = LiveUpdateOf<typeof contract>
  const accept = (input: Watch) => input

  test('require the parent in each input', () => {
    accept({ topics: ['backlog'], backlog: { projectId: 1 } })
    accept({ topics: ['backlog'], backlog: [{ projectId: 1 }, { projectId: 2, search: 'Bug' }] })
    // @ts-expect-error The project is missing
    accept({ topics: ['backlog'], backlog: {} })
    // @ts-expect-error The project is missing in the second input
    accept({ topics: ['backlog'], backlog: [{ projectId: 1 }, { search: 'Bug' }] })
    // @ts-expect-error The topic has no parents
    accept({ topics: ['tickets'], tickets: [{ titles: new Set(['a']) }] })
  })

  test('have the parent and the state of an update, and the errors of a parent', () => {
    const read = (update: Update) => {
      if (update.topic === 'backlog') {
        expectTypeOf(update.of).toEqualTypeOf<{ projectId: number }>()
        expectTypeOf(update.state).toEqualTypeOf<{ titles: string[]; total: number } | null>()
      }
      // @ts-expect-error The topic has no parents
      if (update.topic === 'tickets') expectTypeOf(update.of).toBeUnknown()
    }
    const watch = async ({ live }: ClientOf<typeof contract>) => {
      const { error } = await safe(live.watch({ topics: ['tickets'] }))
      if (isDefinedError(error))
        expectTypeOf(error.code).toEqualTypeOf<
          'UNAUTHORIZED' | 'INSUFFICIENT_SCOPE' | 'NOT_FOUND' | 'FORBIDDEN'
        >()
    }

    expectTypeOf(read).parameter(0).toEqualTypeOf<Update>()
    expectTypeOf(watch).returns.resolves.toBeVoid()
  })
})
