import type { Action } from '../../contract/meta.ts'
import { RowId } from '../../contract/schemas.ts'
import type { Database } from '../../db/database.ts'
import * as notes from '../../db/notes.ts'
import * as tasks from '../../db/tasks.ts'
import type { Caller } from '../caller.ts'

/**
 * The relation of a signed-in caller to a resource. `anyone` means that the caller has no special relation to the
 * resource.
 */
export type Relation = 'author' | notes.Role | 'owner' | 'anyone'

/**
 * The authorization table: the actions that each relation permits. The guard uses this table for its checks. Procedures
 * use it for the field `can` of responses.
 */
const permissions: Record<Relation, readonly Action[]> = {
  author: ['VIEW_NOTE', 'EDIT_NOTE', 'SHARE_NOTE', 'DELETE_NOTE'],
  editor: ['VIEW_NOTE', 'EDIT_NOTE'],
  reader: ['VIEW_NOTE'],
  owner: ['EDIT_TASK'],
  anyone: ['CREATE_NOTE'],
}

export const isPermitted = (relation: Relation, action: Action) => permissions[relation].includes(action)

export const relationTo = ({ note, role }: notes.ListedNote, userId: string): Relation =>
  note.userId === userId ? 'author' : (role ?? 'anyone')

/** The relation of a caller to a resource, and the account that owns the resource. */
interface Found {
  relation: Relation
  owner: string
}

type FindRelation = (db: Database, user: Caller['user'], id: unknown) => Promise<Found | undefined>

const findNoteRelation: FindRelation = async (db, user, id) => {
  const found = typeof id === 'string' ? await notes.find(db, user, id) : undefined
  return found && { relation: relationTo(found, user.id), owner: found.note.userId }
}

const findTaskRelation: FindRelation = async (db, user, id) => {
  const { success, data } = RowId.safeParse(id)
  // Accepts a malformed id, because input validation rejects the id later (400).
  const exists = !success || (await tasks.find(db, user.id, data))
  return exists ? { relation: 'owner', owner: user.id } : undefined
}

/**
 * For each action, a function that finds the caller's relation to a resource, given the id of the resource. The
 * function returns undefined if the resource does not exist, or if the resource is a task of another person.
 */
export const findRelation: Record<Action, FindRelation> = {
  CREATE_NOTE: (_, user) => Promise.resolve({ relation: 'anyone', owner: user.id }),
  VIEW_NOTE: findNoteRelation,
  EDIT_NOTE: findNoteRelation,
  SHARE_NOTE: findNoteRelation,
  DELETE_NOTE: findNoteRelation,
  EDIT_TASK: findTaskRelation,
}
