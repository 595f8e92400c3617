import { ORPCError } from '@orpc/client'
import { isObject, type Promisable } from '@orpc/shared'

import { ById, headerErrors, type TaggedResource } from '../../contract/base.ts'
import { badRequest } from '../../contract/errors.ts'
import type { Database } from '../../db/database.ts'
import * as notes from '../../db/notes.ts'
import * as tasks from '../../db/tasks.ts'
import type { Caller, Context } from '../context.ts'

/** The state of a task, as a strong entity tag. */
export const taskTag = ({ version }: tasks.TaskRow) => `"${version}"`

/** The state of a note as somebody sees it: how it is shared is for its author alone to know. */
export const noteTag = ({ userId, version, sharing }: notes.NoteRow, viewerId: string) =>
  userId === viewerId ? `"${version}.${sharing}"` : `"${version}"`

type State = (db: Database, user: Caller['user'], id: unknown) => Promise<string | undefined>

/** The state of a thing, which lasts until the transaction ends; nothing where there is no such thing. */
const states: Record<TaggedResource, State> = {
  task: async (db, user, id) => {
    const { data, error } = ById.safeParse({ id })
    // What names no task at all is malformed, whatever its state.
    if (error) throw badRequest(error.issues)
    const task = await tasks.findForUpdate(db, user.id, data.id)
    return task && taskTag(task)
  },
  note: async (db, user, id) => {
    const note = typeof id === 'string' ? await notes.findForUpdate(db, user, id) : undefined
    return note && noteTag(note, user.id)
  },
}

/** Whether `If-Match` names a state, as RFC 9110 has it: a weak tag never does. */
const isNamed = (condition: string, state: string) =>
  condition.trim() === '*' || condition.split(',').some((tag) => tag.trim() === state)

/** Changes a thing while it is in a state that `If-Match` names, before anybody else can change it. */
export const whereMatched = <Result>(
  { db, headers }: Context,
  { user }: Caller,
  { thing, input }: { thing: TaggedResource; input: unknown },
  change: (own: Pick<Context, 'db'>) => Promisable<Result>,
) =>
  db.transaction(async (tx) => {
    const state = await states[thing](tx, user, isObject(input) ? input.id : undefined)
    if (state === undefined || !isNamed(headers['if-match'] ?? '', state))
      throw new ORPCError('PRECONDITION_FAILED', headerErrors.PRECONDITION_FAILED)
    return change({ db: tx })
  })
