import { eventIterator } from '@orpc/contract'
import * as z from 'zod'

import { signedIn } from '../builders.ts'
import type { Topic } from '../meta.ts'
import { responseSchemas } from '../schemas.ts'

/** The fields of an input that can name a parent: the required texts and numbers. */
type ParentField<Input> = {
  [Field in keyof Input & string]: Input[Field] extends string | number | bigint ? Field : never
}[keyof Input & string]

/** What a declaration with `of` needs: an object as input, and the name of one of its fields. */
type ParentOf<Declaration> = Declaration extends { of: string }
  ? { input: z.ZodType<object>; of: ParentField<OutputOf<Declaration>> }
  : unknown

type OutputOf<Declaration> = Declaration extends { input: infer Input extends z.ZodType }
  ? z.output<Input>
  : never

/**
 * Declares a topic: `topic('loans', { access: 'signedIn', state: LoanList, input: LoanFilter })`. The operation with
 * `reads: loansTopic` reads the state. Operations with `updates: [loansTopic]` announce a new state.
 *
 * With `of`, a state shows the rows of one parent, which the field of the input names:
 * `topic('tickets', { access: 'signedIn', state: TicketList, input: TicketFilter, of: 'projectId' })`. A stream watches
 * one or several parents, and a change is announced to one parent: `announce(ticketsTopic, { parent: projectId })`. The
 * field of an update has the same schema as the field of the input. Therefore, the schema must accept its own output, as `RowId` does.
 *
 * The helpers for TanStack Query (engine/contract/query/keep-live.ts) presume that the topic has the name of its resource, and
 * that the operation is `list` or `get`. If a state has one list, a larger number in the state is the total of the list.
 */
export const topic = <const Name extends string, const Declaration extends Omit<Topic, 'name'>>(
  name: Name,
  declaration: Declaration & ParentOf<Declaration>,
): { name: Name } & Declaration => ({ name, ...declaration })

/** Returns the names of topics in an input that has not been validated: a list, or a string with commas as in URLs. */
export const readTopics = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : []

/** A topic whose states show the rows of one parent. */
export interface TopicOfParent extends Topic {
  of: string
  input: z.ZodType
}

/** The state of a parent is null after the caller has lost access to the parent, or the parent has been deleted. */
type UpdateOf<Declared extends Topic> = Declared extends TopicOfParent
  ? {
      topic: Declared['name']
      of: Pick<OutputOf<Declared>, Declared['of'] & keyof OutputOf<Declared>>
      state: z.output<Declared['state']> | null
    }
  : Declared extends Topic
    ? { topic: Declared['name']; state: z.output<Declared['state']> }
    : never

type InputOf<Declared extends Topic> = Declared extends TopicOfParent
  ? OutputOf<Declared> | readonly OutputOf<Declared>[]
  : OutputOf<Declared>

/** The input of `live.watch`: `{ topics: ['loans'], loans: { bookId: 7 } }`. */
export type WatchInput<Declared extends Topic> = { topics: Declared['name'][] } & {
  [One in Declared as One extends { input: z.ZodType } ? One['name'] : never]?: InputOf<One> | undefined
}

const isOfParent = (topic: Topic): topic is TopicOfParent =>
  topic.of !== undefined && topic.input !== undefined

/** Returns the schema of the field that names the parent. `defineApp` refuses a wrong name (engine/start/define-app/mistakes/topics.ts). */
const parentField = ({ input, of }: TopicOfParent): z.ZodType => {
  const field: unknown = input instanceof z.ZodObject ? input.shape[of] : undefined
  return field instanceof z.ZodType ? field : z.unknown()
}

/** A topic with its current state: the output of the operation that reads the topic. */
const createUpdate = (topics: readonly [...Topic[], Topic]) => {
  const update = (topic: Topic) => {
    const name = z.literal(topic.name)
    return isOfParent(topic)
      ? z.object({
          topic: name,
          of: z.object({ [topic.of]: parentField(topic) }),
          state: topic.state.nullable(),
        })
      : z.object({ topic: name, state: topic.state })
  }
  const [first, ...others] = topics
  const example = { topic: first.name, state: responseSchemas.get(first.state)?.example }
  return z
    .discriminatedUnion('topic', [update(first), ...others.map(update)])
    .register(responseSchemas, { id: 'LiveUpdate', example })
}

/** Maximum number of parents in one stream. Each parent is one state, and one more part of the event id. */
const MAX_PARENTS = 32

/** One input, or a list of inputs with different parents. */
function createParentInput({ input, of }: TopicOfParent) {
  const parentOf = (given: unknown) => String(Reflect.get(Object(given), of))
  const several = z
    .array(input)
    .min(1)
    .max(MAX_PARENTS)
    .refine((list) => new Set(list.map(parentOf)).size === list.length, `Must have different values of ${of}`)
  return z.union([input, several], {
    // Only the issues of the option that the caller has chosen: `errors` has the issues of each option, in this order.
    error: ({ input: given, errors }) =>
      errors[Array.isArray(given) ? 1 : 0]
        ?.map(({ path, message }) => [...path, message].map(String).join(': '))
        .join('; '),
  })
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
  const inputs = topics.flatMap((topic) => {
    const input = isOfParent(topic) ? createParentInput(topic) : topic.input
    return input ? [[topic.name, input.optional()] as const] : []
  })
  const Input = z.object({ topics: Topics, ...Object.fromEntries(inputs) })
  const ofParents = topics.filter(isOfParent)
  if (ofParents.length === 0) return Input
  return Input.superRefine((given: { topics: string[] } & Record<string, unknown>, { addIssue }) => {
    for (const { name, of } of ofParents)
      if (given.topics.includes(name) && given[name] === undefined)
        addIssue({ code: 'custom', path: [name], message: `Must name the ${of} whose state is watched` })
  })
}

/** The errors of the operation that reads the state of a parent, for a caller who may not read the state. */
const parentErrors = {
  NOT_FOUND: { status: 404, message: 'Not found' },
  FORBIDDEN: { status: 403, message: 'Not permitted' },
}

type WatchErrors<Declared extends Topic> = Pick<
  typeof parentErrors,
  Declared extends TopicOfParent ? keyof typeof parentErrors : never
>

/** The contract of the operation that watches topics. The casts stay here: callers see the types of the topics. */
export const liveContract = <const Topics extends readonly [...Topic[], Topic]>(topics: Topics) => ({
  watch: signedIn
    // Secrets: the states can contain tokens, for example of sessions.
    .meta({ watches: topics, scope: 'read', secrets: true })
    .errors((topics.some(isOfParent) ? parentErrors : {}) as WatchErrors<Topics[number]>)
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
