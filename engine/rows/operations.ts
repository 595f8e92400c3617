import type { Promisable } from '@orpc/shared'
import { actionsOf, type ItemAction, type Page, type Search } from 'tallystick-contract/internal'

import { type Member, OWNER, type Related, type Requirements, type Rows } from '../db/rows/index.ts'
import type { Person } from '../db/users.ts'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import { createError } from '../guard/access.ts'
import { versionTag } from '../guard/conditions.ts'
import { isPermitted } from '../guard/permissions.ts'
import type { ProcedureContract } from '../guard/procedure-contract.ts'
import { isOfOwnItem } from '../guard/required-permissions.ts'
import { checksInStatement } from '../guard/statement-checks.ts'
import { newestFirst, newestFirstByText, readPage, readSortedPage } from '../lists/pagination.ts'
import type { Recipient } from '../live-stream.ts'

/** The permissions of a resource: the actions that each relation permits, for example `{ owner: ['EDIT_BOOK'] }`. */
export type Permissions<Action extends string = string> = Readonly<Record<string, readonly Action[]>>

/** What `view` receives beside a row: `view: (row, { can }): Project => ({ id: row.id, can })`. */
export interface ViewContext<Action extends string> {
  /** The actions that the caller may do with the row. */
  can: Readonly<Record<Action, boolean>>
  /** The relations of the caller to the row. */
  relations: readonly string[]
  person: Person
}

/** A call of a procedure that requires a caller. */
interface Call {
  context: Context & Caller
  procedure: { '~orpc': ProcedureContract }
}
interface ItemCall extends Call {
  input: { id: unknown }
}
interface ListCall extends Call {
  input: (Page & Search & { order?: string | undefined } & Readonly<Record<string, unknown>>) | undefined
}

/** Refuses fields that the rows do not have: a value would be lost. */
type Exact<Fields, Given> = {
  [Field in Exclude<keyof Given, keyof Fields>]: `The rows do not take ${Field & string}`
}

/** Returns whose states show a row: its owner, its parent, and the people who see the row itself. */
export function recipientsOf({ visibility }: Pick<Rows, 'visibility'>, row: object): Recipient[] {
  const { owner, parent, members } = visibility
  const valueOf = (field: string) => Reflect.get(row, field) as string | number
  return [
    ...(owner === undefined ? [] : [{ person: String(valueOf(owner)) }]),
    ...(parent ? [{ parent: valueOf(parent.key) }] : []),
    ...(members ? [{ parent: valueOf('id') }] : []),
  ]
}

const relationsWith = (permissions: Permissions | undefined, action: string) =>
  isPermitted(permissions ?? {}, 'anyone', action)
    ? undefined
    : Object.keys(permissions ?? {}).filter((relation) => isPermitted(permissions ?? {}, relation, action))

/** The relations that permit the actions of a call: on the row, and on the parent of a row. */
function requirementsOf(
  { context, procedure }: Call,
  { visibility }: Pick<Rows, 'visibility'>,
  permissions: Permissions,
): Requirements {
  const requirements: Requirements = { versions: context.acceptedVersions }
  for (const { name, of, id } of actionsOf(procedure['~orpc'].meta)) {
    if (isOfOwnItem({ of, id })) requirements.relations = relationsWith(permissions, name)
    else if (id === visibility.parent?.key)
      requirements.parentRelations = relationsWith(
        of === undefined ? permissions : context.resources[of]?.items?.permissions,
        name,
      )
  }
  return requirements
}

/** Creates the handlers of a resource with rows. */
export function createOperations<
  Row extends { id: string | number },
  New,
  Changes,
  Action extends string,
  View,
>(
  rows: Rows<Row, New, Changes>,
  permissions: Permissions<Action>,
  view: (row: Omit<Row, 'version'>, viewer: ViewContext<Action>) => View,
) {
  type Found = Row & Related
  const actions = [...new Set(Object.values(permissions).flat())]
  const isOwned = rows.visibility.owner !== undefined && !rows.visibility.members

  /** Returns the view of a row for a person. */
  function viewAs(row: Omit<Row, 'version'> & Related, person: Person) {
    const permitted = ['anyone', ...row.relations].flatMap((relation) => permissions[relation] ?? [])
    const can = Object.fromEntries(actions.map((action) => [action, permitted.includes(action)]))
    return view(row, { can: can as Record<Action, boolean>, relations: row.relations, person })
  }

  const show = ({ context: { user } }: Call, row: Omit<Found, 'version'>) => viewAs(row, user)

  /** Returns the view of a row, and sets its entity tag. */
  const showWithTag = (call: Call, row: Found) => {
    const { version } = row as { version?: number }
    if (version !== undefined && call.procedure['~orpc'].meta.etag)
      call.context.reply.set('etag', versionTag({ version }))
    return show(call, row)
  }

  /** The guard announces the changes of a person's own rows. */
  const announceRow = ({ context, procedure }: Call, ...changed: readonly object[]) => {
    if (isOwned) return
    for (const topic of procedure['~orpc'].meta.updates ?? [])
      context.announce(topic, ...changed.flatMap((row) => recipientsOf(rows, row)))
  }

  /** Throws 404, 403 or 412, because no row fulfills the conditions of a statement. */
  const throwMissing = async ({ context, procedure }: Call): Promise<never> => {
    await context.checkPermissions?.()
    throw createError(procedure['~orpc'], 'NOT_FOUND')
  }

  const coversParent = ({ of, id }: ItemAction) => of !== undefined && id === rows.visibility.parent?.key

  /** `{ books: […] }`, and with the name of the total `{ books: […], bookCount: 7 }`. */
  type PageOf<List extends string, Total extends string> = Record<List, View[]> & Record<Total, number>

  /** Throws if the rows have no members. */
  const requireMembers = () => {
    if (!rows.members) throw new Error(`The rows of ${rows.name} have no members`)
    return rows.members
  }

  /** Announces a change of a membership to the address, and to those who see the row. */
  const announceMember = ({ context, procedure }: Call, row: object | undefined, address: string) => {
    for (const topic of procedure['~orpc'].meta.updates ?? [])
      context.announce(topic, { address }, ...(row ? recipientsOf(rows, row) : []))
  }

  return {
    viewAs,

    /** Lists the members of the row with the id in the input, newest first: `{ members: [{ email, role, createdAt }] }`. */
    members:
      <List extends string, Shown>(list: List, viewMember: (member: Member) => Shown) =>
      async (call: ItemCall & { input: Page }): Promise<Record<List, Shown[]>> => {
        const order = {
          positionOf: ({ createdAt, email }: Member) => ({ at: createdAt, id: email }),
          cursorPattern: newestFirstByText.cursorPattern,
          textsOf: ({ email }: Member) => [email],
        }
        const { rows: found } = await readPage(call, order, (page) =>
          requireMembers().list(call.context.db, call.input.id, page),
        )
        return { [list]: found.map(viewMember) } as Record<List, Shown[]>
      },

    /**
     * Gives the person with an address a role, or changes the role. The address need not have an account: the person sees the row
     * after signing in. Answers the row, whether or not the address has an account.
     */
    invite: <Given extends ItemCall>(map: (call: Given) => Pick<Member, 'email' | 'role'>) =>
      checksInStatement(async (call: Given): Promise<View> => {
        const { db, user } = call.context
        const { email, role } = map(call)
        const address = email.toLowerCase()
        const requirements = requirementsOf(call, rows, permissions)
        // The owner keeps the relation of the owner.
        if (address === user.email) await call.context.checkPermissions?.()
        const isDone =
          address === user.email ||
          (await requireMembers().put(db, user, call.input.id, { email: address, role }, requirements))
        const row = isDone ? await rows.find(db, user, call.input.id) : undefined
        if (!row) return throwMissing(call)
        announceMember(call, row, address)
        return showWithTag(call, row)
      }, isOfOwnItem),

    /** Removes the person with an address from the row, if there is one. */
    exclude: <Given extends ItemCall>(map: (call: Given) => string) =>
      checksInStatement(async (call: Given): Promise<View> => {
        const { db, user } = call.context
        const address = map(call).toLowerCase()
        const requirements = requirementsOf(call, rows, permissions)
        const isRemoved = await requireMembers().remove(db, user, call.input.id, address, requirements)
        if (!isRemoved) await call.context.checkPermissions?.()
        const row = await rows.find(db, user, call.input.id)
        if (!row) return throwMissing(call)
        announceMember(call, row, address)
        return showWithTag(call, row)
      }, isOfOwnItem),

    /** Ends the access of the caller to the row that another person shares. */
    leave: () =>
      checksInStatement(async (call: ItemCall) => {
        const { db, user } = call.context
        const row = await rows.find(db, user, call.input.id)
        const requirements = requirementsOf(call, rows, permissions)
        if (!(await requireMembers().remove(db, user, call.input.id, user.email, requirements)))
          return throwMissing(call)
        announceMember(call, row, user.email)
        return { success: true }
      }, isOfOwnItem),

    /**
     * Lists a page. `list` is the name of the list in the output, `total` the name of the number of all rows. The input can
     * have `limit`, `cursor`, `q`, `order`, the filters, and the id of the parent.
     */
    page: <List extends string, Total extends string = never>(list: List, total?: Total) =>
      checksInStatement(async (call: ListCall): Promise<PageOf<List, Total>> => {
        const { db, user } = call.context
        const { limit: _, cursor: __, ...selection } = call.input ?? {}
        const { parentRelations } = requirementsOf(call, rows, permissions)
        const keyset = rows.keysetOf(selection.order)
        const read = (request: Parameters<typeof rows.list>[2]) =>
          rows.list(db, user, request, selection, parentRelations)
        const count = total === undefined ? undefined : () => rows.total(db, user, selection, parentRelations)
        const { textsOf } = rows
        const byTime = rows.hasTextIds ? newestFirstByText : newestFirst
        const page = keyset
          ? await readSortedPage(call, { keyset, textsOf }, read as never, count)
          : await readPage(call, { ...byTime, textsOf } as never, read as never, count as never)
        if (page.rows.length === 0) await call.context.checkPermissions?.()
        // A proxy must not compress rows of other people beside own rows: the size of the answer could reveal a text (BREACH).
        if (page.rows.some((row) => !(row as Found).relations.includes(OWNER)))
          call.context.reply.set('cache-control', 'no-transform')
        return {
          [list]: page.rows.map((row) => show(call, row as Found)),
          ...(total !== undefined && { [total]: (page as { total: number }).total }),
        } as PageOf<List, Total>
      }, coversParent),

    /** Reads the row with the id in the input. */
    get: () =>
      checksInStatement(async (call: ItemCall): Promise<View> => {
        const { relations } = requirementsOf(call, rows, permissions)
        const row = await rows.find(call.context.db, call.context.user, call.input.id)
        const isReadable =
          row && (!relations || row.relations.some((relation) => relations.includes(relation)))
        return isReadable ? showWithTag(call, row) : throwMissing(call)
      }, isOfOwnItem),

    /** Inserts a row with the values that `map` returns. */
    insert: <Given extends Call, Values extends New>(
      map: (call: Given) => Promisable<Values & Exact<New, Values>>,
    ) =>
      checksInStatement(async (call: Given): Promise<View> => {
        const { parentRelations } = requirementsOf(call, rows, permissions)
        const { db, user } = call.context
        const row = await rows.insert(db, user, await map(call), parentRelations)
        if (!row) return throwMissing(call)
        announceRow(call, row)
        return showWithTag(call, row)
      }, coversParent),

    /** Changes the row with the id in the input to the values that `map` returns. An omitted field keeps its value. */
    update: <Given extends ItemCall, Values extends Changes>(
      map: (call: Given) => Promisable<Values & Exact<Changes & { id: unknown }, Values>>,
    ) =>
      checksInStatement(async (call: Given): Promise<View> => {
        const { db, user } = call.context
        const { id } = call.input
        const values = await map(call)
        const { parent } = rows.visibility
        const isMoved = parent && (Reflect.get(values, parent.key) as unknown) !== undefined
        const before = isMoved ? await rows.find(db, user, id) : undefined
        const row = await rows.update(db, user, id, values, requirementsOf(call, rows, permissions))
        if (!row) return throwMissing(call)
        announceRow(call, row, ...(before ? [before] : []))
        return showWithTag(call, row)
      }, isOfOwnItem),

    /**
     * Deletes the row with the id in the input. Returns whether a row was deleted. With `isRequired`, throws 404 if there was none.
     */
    remove: ({ isRequired = true } = {}) =>
      checksInStatement(async (call: ItemCall) => {
        const { db, user, acceptedVersions } = call.context
        const row = await rows.remove(db, user, call.input.id, requirementsOf(call, rows, permissions))
        if (row) announceRow(call, row)
        else if (isRequired || acceptedVersions) return throwMissing(call)
        return { success: true }
      }, isOfOwnItem),
  }
}
