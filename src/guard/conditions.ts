import { ORPCError } from '@orpc/client'
import { isObject, type Promisable } from '@orpc/shared'

import { ifMatchErrors } from '../../contract/builders.ts'
import type { TaggedResource } from '../../contract/meta.ts'
import { ById } from '../../contract/schemas.ts'
import * as notes from '../../db/notes.ts'
import * as tasks from '../../db/tasks.ts'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'

/** The strong entity tag of a task. */
export const taskTag = ({ version }: tasks.TaskRow) => `"${version}"`

/**
 * The strong entity tag of a note. `sharing` changes when the author shares the note or changes a role. Only the
 * author's tag contains `sharing`, because other readers must not notice these changes.
 */
export const noteTag = ({ userId, version, sharing }: notes.NoteRow, viewerId: string) =>
  userId === viewerId ? `"${version}.${sharing}"` : `"${version}"`

/**
 * Returns the entity tags of `If-Match`, in their strong form. Accepts the weak form of a tag, contrary to RFC 9110: the
 * service and compressing proxies make the tag of a compressed answer weak (`W/"1"`), and the tag still identifies one
 * version of the resource.
 */
const tagsOf = (ifMatch = '') =>
  ifMatch.trim() === '*' ? 'any' : ifMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''))

function matches(ifMatch: string | undefined, tag: string) {
  const tags = tagsOf(ifMatch)
  return tags === 'any' || tags.includes(tag)
}

const preconditionFailed = () => new ORPCError('PRECONDITION_FAILED', ifMatchErrors.PRECONDITION_FAILED)

/** Runs `change`, and makes sure that the change happens only if `If-Match` matches the current entity tag (otherwise 412). */
type RunIfMatching = <Result>(
  context: Context,
  caller: Caller,
  input: unknown,
  change: (overrides: Partial<Context>) => Promisable<Result>,
) => Promisable<Result>

/**
 * Tasks: one statement makes the change, and contains the accepted versions. If no row has changed, the procedure throws
 * 412.
 *
 * Notes: a change can consist of several statements. The row stays locked from the comparison to the commit, so that no
 * concurrent change is lost.
 */
export const runIfMatching: Record<TaggedResource, RunIfMatching> = {
  task: ({ headers }, _, __, change) => change({ acceptedVersions: versionsOf(headers['if-match']) }),
  note: ({ db, headers }, { user }, input, change) =>
    db.transaction(async (tx) => {
      const id = idOf(input)
      const note = typeof id === 'string' ? await notes.findForUpdate(tx, user, id) : undefined
      if (!note || !matches(headers['if-match'], noteTag(note, user.id))) throw preconditionFailed()
      return change({ db: tx })
    }),
}

/** Returns whether the statement of a change checks the owner and the version. */
export const isCheckedByStatement = (resource: TaggedResource | undefined) => resource === 'task'

export const idOf = (input: unknown) => (isObject(input) ? input.id : undefined)

/** A version with at most nine digits, which PostgreSQL accepts as an `integer`. */
const TASK_TAG = /^"(0|[1-9]\d{0,8})"$/

/** Returns the versions of a task that `If-Match` accepts. */
function versionsOf(ifMatch: string | undefined) {
  const tags = tagsOf(ifMatch)
  return tags === 'any' ? tags : tags.flatMap((tag) => TASK_TAG.exec(tag)?.slice(1).map(Number) ?? [])
}

/**
 * Throws 412 if the task does not have a version that `If-Match` accepts. The guard calls this function after an error of
 * the change, because 412 has priority over 400, and the procedure checks the version only after the input.
 */
export async function requireAcceptedVersion({ db, headers }: Context, { user }: Caller, input: unknown) {
  const ifMatch = headers['if-match']
  const { data } = ById.safeParse(input)
  if (ifMatch === undefined || !data) return
  const task = await tasks.find(db, user.id, data.id)
  if (!task || !matches(ifMatch, taskTag(task))) throw preconditionFailed()
}
