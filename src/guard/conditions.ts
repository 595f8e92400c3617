import { ORPCError } from '@orpc/client'
import { isObject, type Promisable } from '@orpc/shared'

import { ById, headerErrors, type TaggedResource } from '../../contract/base.ts'
import { badRequest } from '../../contract/errors.ts'
import type { Database } from '../../db/database.ts'
import * as notes from '../../db/notes.ts'
import * as tasks from '../../db/tasks.ts'
import type { Caller, Context } from '../context.ts'

/** The strong entity tag of a task. */
export const taskTag = ({ version }: tasks.TaskRow) => `"${version}"`

/**
 * The strong entity tag of a note. `sharing` changes when the author shares the note or changes a role. Only the
 * author's tag contains `sharing`, because other readers must not notice these changes.
 */
export const noteTag = ({ userId, version, sharing }: notes.NoteRow, viewerId: string) =>
  userId === viewerId ? `"${version}.${sharing}"` : `"${version}"`

type LockAndTag = (db: Database, user: Caller['user'], id: unknown) => Promise<string | undefined>

/**
 * For each type of resource, a function that locks a row until the transaction ends. The function returns the entity
 * tag of the resource, or undefined if the user has no such resource.
 */
const lockAndTag: Record<TaggedResource, LockAndTag> = {
  task: async (db, user, id) => {
    const { data, error } = ById.safeParse({ id })
    // A malformed id is invalid input (400), not a failed precondition (412).
    if (error) throw badRequest(error.issues)
    const task = await tasks.findForUpdate(db, user.id, data.id)
    return task && taskTag(task)
  },
  note: async (db, user, id) => {
    const note = typeof id === 'string' ? await notes.findForUpdate(db, user, id) : undefined
    return note && noteTag(note, user.id)
  },
}

/**
 * Returns whether `If-Match` matches an entity tag. Accepts the weak form of the tag, contrary to RFC 9110: the service
 * and compressing proxies make the tag of a compressed answer weak (`W/"1"`), and the tag still identifies one version of
 * the resource.
 */
const matches = (ifMatch: string, tag: string) =>
  ifMatch.trim() === '*' || ifMatch.split(',').some((each) => each.trim().replace(/^W\//, '') === tag)

/**
 * Runs `change` in a transaction if `If-Match` matches the current entity tag. Otherwise throws 412. The row stays
 * locked from the comparison to the commit, so that no concurrent change is lost.
 */
export const withIfMatch = <Result>(
  { db, headers }: Context,
  { user }: Caller,
  { resource, input }: { resource: TaggedResource; input: unknown },
  change: (overrides: Pick<Context, 'db'>) => Promisable<Result>,
) =>
  db.transaction(async (tx) => {
    const tag = await lockAndTag[resource](tx, user, isObject(input) ? input.id : undefined)
    if (tag === undefined || !matches(headers['if-match'] ?? '', tag))
      throw new ORPCError('PRECONDITION_FAILED', headerErrors.PRECONDITION_FAILED)
    return change({ db: tx })
  })
