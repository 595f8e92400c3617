import { type AnyProcedure, createProcedureClient, ORPCError } from '@orpc/server'

import type { Topic } from '../../contract/meta.ts'
import { listAuthors } from '../../db/shares.ts'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import type { WatchCall } from '../live-stream.ts'
import { router } from '../procedures/index.ts'
import type { Source } from './shared-state.ts'

/** The key of a change: the topic, and the account that owns the data. */
export const keyOf = (topic: Topic, owner = '') => (topic === 'counter' ? topic : `${topic}:${owner}`)

/**
 * Maximum number of different lists of tasks (status and limit) in the streams of one person. An app can add a list only
 * up to half of this number, so that the page of the person can still add its lists.
 */
const MAX_TASK_LISTS = 8

interface Parts extends Pick<Source, 'otherKeys' | 'maxStates'> {
  input?: unknown
}

/** The context for reading a state, without a request. */
type ReadContext = (caller: Caller | undefined) => Context

/** Returns where the states of a call come from. */
export const sourcesOf = (call: WatchCall, contextFor: ReadContext) =>
  call.topics.map((topic) => sourceOf(topic, call, contextFor))

/**
 * Returns where the state of a topic comes from. The state is the output of a read operation, so that guard, validation
 * and limits are the same as for a call.
 */
function sourceOf(topic: Topic, call: WatchCall, contextFor: ReadContext): Source {
  const { caller, tasks, isFirstForm } = call
  if (topic === 'counter')
    return {
      topic,
      id: topic,
      account: '',
      key: keyOf(topic),
      read: readWith(router.counter.get, () => contextFor(undefined)),
    }
  if (!caller) throw new ORPCError('UNAUTHORIZED')
  const { user, session } = caller
  const key = keyOf(topic, user.id)
  const source = (detail: string, procedure: AnyProcedure, { input, ...parts }: Parts = {}): Source => ({
    ...parts,
    topic,
    id: `${key} ${detail}`,
    account: user.id,
    key,
    read: readWith(procedure, () => contextFor(caller), input),
  })
  switch (topic) {
    case 'tasks':
      return source(JSON.stringify([tasks?.status, tasks?.limit]), router.tasks.list, {
        input: tasks,
        maxStates: caller.scopes ? MAX_TASK_LISTS / 2 : MAX_TASK_LISTS,
      })
    case 'sessions':
      // The list marks the current session.
      return source(session.id, router.sessions.list)
    case 'notes':
      if (isFirstForm) return source('1', router.legacyNotes.list)
      return source('2', router.notes.list, {
        otherKeys: async () => {
          const authors = await listAuthors(contextFor(caller).db, user.email)
          return authors.map((id) => keyOf(topic, id))
        },
      })
  }
}

const readWith = (procedure: AnyProcedure, createContext: () => Context, input?: unknown) => {
  const path = ['live', 'watch']
  return (): Promise<unknown> => createProcedureClient(procedure, { context: createContext(), path })(input)
}
