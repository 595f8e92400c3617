import { eventIterator } from '@orpc/contract'
import * as z from 'zod'

import { publicAccess, signedInErrors } from './builders.ts'
import { type Access, type Topic, topics } from './meta.ts'
import { responseSchemas } from './schemas.ts'
import { Counter } from './counter.ts'
import { NoteList } from './notes.ts'
import { SessionList } from './sessions.ts'
import { TaskFilter, TaskList } from './tasks.ts'

/** The access that each topic needs. */
export const topicAccess: Record<Topic, Access> = {
  counter: 'public',
  tasks: 'signedIn',
  notes: 'signedIn',
  sessions: 'signedIn',
}

/** Returns the topics of an input that has not been validated: a list, or a string with commas as in URLs. */
export const readTopics = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : []

const Topics = z
  .preprocess(
    (value: Topic[]) => [...new Set(readTopics(value))],
    z.array(z.enum(topics)).min(1, 'Must name at least one topic'),
  )
  .meta({
    type: 'array',
    items: { type: 'string', enum: [...topics] },
    minItems: 1,
    uniqueItems: true,
    examples: [['counter', 'tasks']],
  })

const WatchInput = z.object({ topics: Topics, tasks: TaskFilter.optional() })

const update = <Name extends Topic, State extends z.ZodType>(topic: Name, state: State) =>
  z.object({ topic: z.literal(topic), state })

/** A topic with its current state: the output of the operation that reads the topic. */
export const LiveUpdate = z
  .discriminatedUnion('topic', [
    update('counter', Counter),
    update('tasks', TaskList),
    update('notes', NoteList),
    update('sessions', SessionList),
  ])
  .register(responseSchemas, { id: 'LiveUpdate', example: { topic: 'counter', state: { count: 7 } } })
export type LiveUpdate = z.infer<typeof LiveUpdate>

export const live = {
  watch: publicAccess
    .meta({ access: topicAccess, scope: 'read', secrets: true })
    .errors(signedInErrors)
    .route({
      method: 'GET',
      path: '/api/live',
      summary: 'Watch topics: the current states, and each new state after a change',
    })
    .input(WatchInput)
    .output(eventIterator(LiveUpdate)),
}
