import { actionsOf } from 'tallystick-contract/internal'

import type { Related, Requirements, Rows } from '../../db/rows/index.ts'
import type { Caller } from '../../call/caller.ts'
import type { Context } from '../../call/context.ts'
import { createError } from '../../guard/access.ts'
import { concernsOwnItem, relationsWith } from '../../guard/permissions.ts'
import type { ProcedureContract } from '../../guard/procedure-contract.ts'
import type { Recipient } from '../../call/live-stream.ts'

// The calls that the operations of a resource handle: their types, their requirements, and what they announce.

/** The permissions of a resource: the actions that each relation permits, for example `{ owner: ['EDIT_BOOK'] }`. */
export type Permissions<Action extends string = string> = Readonly<Record<string, readonly Action[]>>

/** A call of a procedure that requires a caller. */
export interface Call {
  context: Context & Caller
  path: readonly string[]
  procedure: { '~orpc': ProcedureContract }
}
/** A call of a procedure that may be public. */
export interface AnyCall extends Omit<Call, 'context'> {
  context: Context & Partial<Caller>
}
export interface ItemCall extends Call {
  input: { id: unknown }
}

export interface Success {
  success: boolean
}

/** What a procedure answers after it has removed a row or a membership: `{ success: true }` by default. */
export interface Answering<Row, Answer> {
  answer?: (row: Row) => Answer
}

/** Without `answer`, the type `Answer` is the default, `Success`, which the compiler does not know. */
export const answerOf = <Row, Answer>(row: Row | undefined, answer: ((row: Row) => Answer) | undefined) =>
  row && answer ? answer(row) : ({ success: true } as Answer)

/** Returns whose states show a row: its owner, its parent, and the people who see the row itself. */
export function recipientsOf(
  { key, visibility }: Pick<Rows, 'key' | 'visibility'>,
  row: object,
): Recipient[] {
  const { owner, parent, members } = visibility
  const valueOf = (field: string) => Reflect.get(row, field) as string | number
  return [
    ...(owner === undefined ? [] : [{ person: String(valueOf(owner)) }]),
    ...(parent ? [{ parent: valueOf(parent.key) }] : []),
    ...(members ? [{ parent: valueOf(key) }] : []),
  ]
}

/** The relations that permit the actions of a call: on the row, and on the parent of a row. */
export function requirementsOf(
  { context, procedure, path }: AnyCall,
  { visibility }: Pick<Rows, 'visibility'>,
): Requirements {
  const requirements: Requirements = { versions: context.acceptedVersions }
  for (const { name, of, id } of actionsOf(procedure['~orpc'].meta)) {
    const isOwn = concernsOwnItem({ of, id })
    if (!isOwn && id !== visibility.parent?.key) continue
    const field = isOwn ? 'relations' : 'parentRelations'
    const table = context.resources[of ?? path[0] ?? '']?.items?.permissions
    requirements[field] = relationsWith(table, name)
  }
  return requirements
}

/** The error if no row fulfills the conditions of a statement. The guard then throws 403 or 412 if one of them applies. */
export const notFound = ({ procedure }: AnyCall) => createError(procedure['~orpc'], 'NOT_FOUND')

export const hasRelation = (row: Related, { relations }: Requirements) =>
  !relations || row.relations.some((relation) => relations.includes(relation))
