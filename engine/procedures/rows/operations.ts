import type { Promisable } from '@orpc/shared'
import type { ItemAction } from 'tallystick-contract/internal'

import type { Related, Rows } from '../../db/rows/index.ts'
import { hasOneRelation } from '../../db/rows/pages.ts'
import { prepared } from '../../db/statements.ts'
import type { Person } from '../../db/accounts/users.ts'
import { concernsOwnItem, markChecksInStatement } from '../../guard/permissions.ts'
import { createSharedReads } from '../lists/shared-reads.ts'
import {
  type AnyCall,
  type Answering,
  answerOf,
  type Call,
  hasRelation,
  type ItemCall,
  notFound,
  type Permissions,
  recipientsOf,
  requirementsOf,
  type Success,
} from './calls.ts'
import { createMemberOperations } from './member-operations.ts'
import { type ListCall, type PageOf, readKeyOf, readRows, selectionOf } from './read-rows.ts'
import { listAnnouncementsWithin } from './topics-within.ts'

/** What `view` receives beside a row: `view: (row, { can }): Project => ({ id: row.id, can })`. */
export interface ViewContext<Action extends string> {
  /** The actions that the caller may do with the row. */
  can: Readonly<Record<Action, boolean>>
  /** The relations of the caller to the row. */
  relations: readonly string[]
  person: Person
}

/** Refuses fields that the rows do not have: a value would be lost. */
type Exact<Fields, Values> = {
  [Field in Exclude<keyof Values, keyof Fields>]: `The rows do not take ${Field & string}`
}

/** The caller of a public procedure, who sees only the rows of everybody. */
const NOBODY: Person = { id: '', email: '' }

/**
 * Creates the handlers of a resource with rows. A statement checks the permissions itself: its condition contains the relations of
 * `requirementsOf`. `markChecksInStatement` tells the guard which permissions these are. If the statement finds no row, the handler
 * throws 404, and the guard finds out whether 403 or 412 applies instead.
 */
export function createOperations<
  Row extends { id: string | number },
  New,
  Changes,
  Action extends string,
  View,
  Role extends string,
>(
  rows: Rows<Row, New, Changes, Role>,
  permissions: Permissions<Action>,
  view: (row: Omit<Row, 'version'>, viewer: ViewContext<Action>) => View,
  tagOf: (row: Row & Related) => string | undefined,
) {
  type Found = Row & Related
  type Listed = Omit<Row, 'version'> & Related
  rows.checkDeclaration?.()
  const actions = [...new Set(Object.values(permissions).flat())]
  const { owner, ownerRelation, members } = rows.visibility
  const isOwned = owner !== undefined && !members

  /** The permissions of each set of relations, computed once. There are few sets. */
  const canByRelations = new Map<string, Readonly<Record<Action, boolean>>>()

  function canOf(relations: readonly string[]) {
    const names = relations.join()
    let can = canByRelations.get(names)
    if (!can) {
      const permitted = ['anyone', ...relations].flatMap((relation) => permissions[relation] ?? [])
      const entries = actions.map((action) => [action, permitted.includes(action)])
      can = Object.freeze(Object.fromEntries(entries) as Record<Action, boolean>)
      canByRelations.set(names, can)
    }
    return can
  }

  /** Returns the view of a row for a person. */
  const viewAs = (row: Listed, person: Person) =>
    view(row, { can: canOf(row.relations), relations: row.relations, person })

  const viewOf = ({ context }: AnyCall, row: Listed) => viewAs(row, context.user ?? NOBODY)

  /** Returns the view of a row, and sets its entity tag. */
  const viewWithTag = (call: AnyCall, row: Found) => {
    const tag = call.procedure['~orpc'].meta.etag ? tagOf(row) : undefined
    if (tag !== undefined) call.context.reply.set('etag', tag)
    return viewOf(call, row)
  }

  /** The guard announces the changes of a person's own rows, and of the rows of everybody. */
  const announceRow = ({ context, procedure }: Call, ...changed: readonly object[]) => {
    const recipients = isOwned ? [] : changed.flatMap((row) => recipientsOf(rows, row))
    if (recipients.length === 0) return
    for (const topic of procedure['~orpc'].meta.updates ?? []) context.announce(topic, ...recipients)
  }

  /** Whether an action concerns the parent of the rows, for example to list or to create rows. */
  const concernsParent = ({ id }: ItemAction) => id === rows.visibility.parent?.key

  return {
    viewAs,

    ...createMemberOperations({ rows, viewWithTag }),

    /**
     * Lists a page. `list` is the name of the list in the output, `total` the name of the number of all rows. The input can
     * have `limit`, `cursor`, `q`, `order`, the filters, and the id of the parent.
     */
    page: <List extends string, Total extends string = never>(list: List, total?: Total) => {
      // One for each database.
      const sharedReads = prepared(createSharedReads)
      return markChecksInStatement(
        concernsParent,
        async (call: ListCall): Promise<PageOf<View, List, Total>> => {
          const { db, user = NOBODY, isAbandoned } = call.context
          const selection = selectionOf(call)
          const { parentRelations } = requirementsOf(call, rows)
          const key = readKeyOf(call, parentRelations)
          const share = key === undefined ? undefined : sharedReads(db)(user.id, key, isAbandoned)
          const page = await readRows({ ...call, share }, rows, {
            list: (request) => rows.list(db, user, request, selection, parentRelations),
            ...(total !== undefined && { count: () => rows.total(db, user, selection, parentRelations) }),
          })
          // The list is also empty if the caller may not see the parent. Then the guard throws 404 or 403.
          if (page.rows.length === 0) await call.context.checkPermissions?.(db)
          // Otherwise, the size of a compressed answer with rows of several owners could reveal a text of another person (BREACH).
          if (
            !hasOneRelation(rows.visibility) &&
            page.rows.some((row) => !row.relations.includes(ownerRelation))
          )
            call.context.reply.set('cache-control', 'no-transform')
          return {
            [list]: page.rows.map((row) => viewOf(call, row)),
            ...(total !== undefined && { [total]: page.total }),
          } as PageOf<View, List, Total>
        },
      )
    },

    /** Reads the row with the id in the input. */
    get: () =>
      markChecksInStatement(
        concernsOwnItem,
        async (call: AnyCall & Pick<ItemCall, 'input'>): Promise<View> => {
          const { db, user = NOBODY } = call.context
          const row = await rows.find(db, user, call.input.id)
          if (!row || !hasRelation(row, requirementsOf(call, rows))) throw notFound(call)
          return viewWithTag(call, row)
        },
      ),

    /** Inserts a row with the values that `map` returns. */
    insert: <TypedCall extends Call, Values extends New>(
      map: (call: TypedCall) => Promisable<Values & Exact<New, Values>>,
    ) =>
      markChecksInStatement(concernsParent, async (call: TypedCall): Promise<View> => {
        const { parentRelations } = requirementsOf(call, rows)
        const { db, user } = call.context
        const row = await rows.insert(db, user, await map(call), parentRelations)
        if (!row) throw notFound(call)
        announceRow(call, row)
        return viewWithTag(call, row)
      }),

    /** Changes the row with the id in the input to the values that `map` returns. An omitted field keeps its value. */
    update: <TypedCall extends ItemCall, Values extends Changes>(
      map: (call: TypedCall) => Promisable<Values & Exact<Changes & { id: unknown }, Values>>,
    ) =>
      markChecksInStatement(concernsOwnItem, async (call: TypedCall): Promise<View> => {
        const { db, user } = call.context
        const { id } = call.input
        const values = await map(call)
        const { parent } = rows.visibility
        // A move to another parent also changes the states of the previous parent.
        const isMoved = parent && (Reflect.get(values, parent.key) as unknown) !== undefined
        const before = isMoved ? await rows.find(db, user, id) : undefined
        const row = await rows.update(db, user, id, values, requirementsOf(call, rows))
        if (!row) throw notFound(call)
        announceRow(call, row, ...(before ? [before] : []))
        return viewWithTag(call, row)
      }),

    /** Deletes the row with the id in the input. Throws 404 if there is none, unless `isRequired` is false. */
    remove: <Answer = Success>({
      answer,
      isRequired = true,
    }: Answering<Row, Answer> & { isRequired?: boolean } = {}) =>
      markChecksInStatement(concernsOwnItem, async (call: ItemCall): Promise<Answer> => {
        const { db, user, acceptedVersions } = call.context
        const announcementsWithin = await listAnnouncementsWithin(
          db,
          call.context.resources,
          rows,
          call.input.id,
        )
        const row = await rows.remove(db, user, call.input.id, requirementsOf(call, rows))
        if (row) {
          announceRow(call, row)
          for (const change of announcementsWithin) call.context.announce(...change)
          // `answer` needs the row, and a request with If-Match asks for a version of it.
        } else if (answer || isRequired || acceptedVersions) throw notFound(call)
        return answerOf(row, answer)
      }),
  }
}
