import { eventIterator } from '@orpc/contract'
import * as z from 'zod'

import { signedIn } from './builders.ts'
import type { Topic } from './meta.ts'
import { responseSchemas } from './schemas.ts'

/**
 * Declares a topic: `topic('loans', { access: 'signedIn', state: LoanList, input: LoanFilter })`. The operation with
 * `reads: loansTopic` reads the state. Operations with `updates: [loansTopic]` announce a new state.
 *
 * The helpers for TanStack Query (engine/contract/query/keep-live.ts) presume that the topic has the name of its
 * resource, and that the operation is `list` or `get`. If a state has one list, a larger number in the state is the
 * total of the list.
 */
export const topic = <const Name extends string, const Declaration extends Omit<Topic, 'name'>>(
  name: Name,
  declaration: Declaration,
) => ({ name, ...declaration })

/** Returns the names of topics in an input that has not been validated: a list, or a string with commas as in URLs. */
export const readTopics = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : []

type UpdateOf<Declared extends Topic> = Declared extends Topic
  ? { topic: Declared['name']; state: z.output<Declared['state']> }
  : never

/** The input of `live.watch`: `{ topics: ['loans'], loans: { bookId: 7 } }`. */
export type WatchInput<Declared extends Topic> = { topics: Declared['name'][] } & {
  [Each in Declared as Each extends { input: z.ZodType } ? Each['name'] : never]?:
    (Each extends { input: infer Input extends z.ZodType } ? z.output<Input> : never) | undefined
}

/** A topic with its current state: the output of the operation that reads the topic. */
const createUpdate = (topics: readonly [...Topic[], Topic]) => {
  const update = ({ name, state }: Topic) => z.object({ topic: z.literal(name), state })
  const [first, ...others] = topics
  const example = { topic: first.name, state: responseSchemas.get(first.state)?.example }
  return z
    .discriminatedUnion('topic', [update(first), ...others.map(update)])
    .register(responseSchemas, { id: 'LiveUpdate', example })
}

function createInput(topics: readonly Topic[]) {
  const names = topics.map(({ name }) => name)
  const Topics = z
    .preprocess(
      (value) => [...new Set(readTopics(value))],
      z.array(z.enum(names)).min(1, 'Must name at least one topic'),
    )
    .meta({
      type: 'array',
      items: { type: 'string', enum: names },
      minItems: 1,
      uniqueItems: true,
      examples: [names.slice(0, 2)],
    })
  const inputs = topics.flatMap(({ name, input }) => (input ? [[name, input.optional()] as const] : []))
  return z.object({ topics: Topics, ...Object.fromEntries(inputs) })
}

/** The contract of the operation that watches topics. The casts stay here: callers see the types of the topics. */
export const liveContract = <const Topics extends readonly [...Topic[], Topic]>(topics: Topics) => ({
  watch: signedIn
    .meta({ watches: topics, scope: 'read', secrets: true })
    .route({
      method: 'GET',
      path: '/api/live',
      summary: 'Watch topics: the current states, and each new state after a change',
    })
    .input(
      createInput(topics) as unknown as z.ZodType<WatchInput<Topics[number]>, WatchInput<Topics[number]>>,
    )
    .output(
      eventIterator(
        createUpdate(topics) as unknown as z.ZodType<UpdateOf<Topics[number]>, UpdateOf<Topics[number]>>,
      ),
    ),
})
