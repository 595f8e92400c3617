import {
  and,
  desc,
  eq,
  getTableColumns,
  getTableName,
  type InferSelectModel,
  sql,
  type SQLWrapper,
} from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'

import { comparable } from '../column-types.ts'
import { createKeyset } from '../keyset.ts'
import { prepared } from '../statements.ts'
import type { Person } from '../accounts/users.ts'
import { createChanges, selectedBy } from './changes.ts'
import { createInsert } from './inserts.ts'
import { createLeaving } from './leaving.ts'
import { type Columns, createLists, largeFieldsOf } from './lists.ts'
import { createMembers } from './members.ts'
import type {
  ChangesOf,
  FieldOf,
  InsertableOf,
  NewRow,
  RowsOptions,
  RowsTable,
  SortField,
} from './options.ts'
import { type AnyRow, hasOneRelation } from './pages.ts'
import type { Related, Rows } from './queries.ts'
import { withRelations } from './row-relations.ts'
import { owned, type Viewer, viewerPlaceholders, type Visibility } from './visibility.ts'

export { type MembersTable, shared } from './shared.ts'
export { owned, within } from './visibility.ts'
export type { Member } from './members.ts'
export type { Requirements } from './changes.ts'
export type { RowsTable } from './options.ts'
export type { ListSelection, Related, Rows, RowsRequest } from './queries.ts'

/**
 * The queries of a table, from one declaration. Every query takes a person, and reads or changes only rows that the person may
 * see. Lists have pages that are limited by bytes, inserts of concurrent callers share a statement, and changes check the
 * version and the relation of the person in their statement.
 *
 * @example
 * export const bookRows = rows(books, { create: ['title'], update: ['title', 'shelf'], filter: ['shelf'] })
 * export const ticketRows = rows(tickets, { visible: within(projectRows, 'projectId'), create: ['projectId', 'title'] })
 */
export function rows<
  Table extends RowsTable,
  const Create extends InsertableOf<Table>,
  const Update extends InsertableOf<Table> = never,
  const Filter extends FieldOf<Table> = never,
  const OrderName extends string = never,
  Role extends string = never,
  Count extends string = never,
>(
  table: Table,
  options: RowsOptions<Table, Create, Update, Filter, OrderName, Role, Count>,
): Rows<
  InferSelectModel<Table> & Record<Count, number>,
  NewRow<Table, Create>,
  ChangesOf<Table, Update>,
  Role,
  Table
> {
  type Row = InferSelectModel<Table> & Record<Count, number>
  const { key = 'id', create, update = [], filter = [], search = [], author, total } = options
  /** The types of Drizzle cannot select from a table that a type parameter stands for. */
  const anyTable: PgTable = table
  const name = getTableName(table)
  const columns = getTableColumns(table) as Record<string, PgColumn>
  const columnOf = (field: string) => {
    const column = columns[field]
    if (!column) throw new Error(`The table ${name} has no column ${field}`)
    return column
  }
  const keyColumn = columnOf(key)
  const isAuthor = author && ((viewer: Viewer) => eq(columnOf(author), viewer.id))
  const visibility: Visibility = withRelations(
    (options.visible ?? owned())(
      table,
      columns as Record<FieldOf<Table>, PgColumn> & Record<'userId', PgColumn>,
    ),
    { ...(isAuthor && { author: isAuthor }), ...options.relations },
  )
  // A list of own rows does not read the owner, who is the caller: `related` adds the owner.
  const listed: Columns = Object.fromEntries(
    Object.entries(columns).filter(
      ([field]) => field !== 'version' && !(field === visibility.owner && hasOneRelation(visibility)),
    ),
  )
  const keysets = new Map(
    Object.entries<readonly SortField<string>[]>(options.orders ?? {}).map(([order, fields]) => {
      const sortKeys = fields.map(({ column, ...sorting }) => ({ ...sorting, column: columnOf(column) }))
      const direction = sortKeys.at(-1)?.direction
      return [order, createKeyset(...sortKeys, { column: table.id, ...(direction && { direction }) })]
    }),
  )
  const [defaultOrder] = keysets.keys()
  const { owner, ownerRelation, members } = visibility
  const largeFields = largeFieldsOf(listed).filter((field) => field !== owner && field !== author)
  const lists = createLists({ table, columns, listed, visibility, largeFields, filters: filter, search })
  const insert = createInsert({ table, columns, visibility, create, creator: owner ?? author })
  const changes = createChanges({ table, key: keyColumn, columns, visibility, update })

  const ofOwner = [ownerRelation]

  /** The relations to a row whose statement does not select them: the same for all rows, or those to a new row. */
  const sameRelations = hasOneRelation(visibility) ? visibility.relations : ofOwner

  const withRelation = selectedBy(columns, visibility)

  const selectOne = prepared((db) =>
    db
      .select(withRelation(viewerPlaceholders))
      .from(anyTable)
      .where(and(eq(keyColumn, sql.placeholder('id')), visibility.isVisible(viewerPlaceholders)))
      .prepare(`${name}_find`),
  )
  const selectKey = prepared((db) =>
    db
      .select({ key: keyColumn })
      .from(anyTable)
      .where(eq(keyColumn, sql.placeholder('id')))
      .prepare(`${name}_exists`),
  )

  /** Adds the number of members of a row that the statement does not count: the row is new, or no longer exists. */
  function withCount(row: AnyRow) {
    if (members?.count) row[members.count.field] ??= 0
    return row
  }

  /**
   * Adds the relations, and the owner that a list of own rows does not select. Changes the row of the driver: a copy of each row
   * would take a fourth of the time of a list. The types of the statements do not know the table.
   */
  function related(row: AnyRow, { id }: Person) {
    if (owner !== undefined) row[owner] ??= id
    withCount(row).relations = row.relation?.split(',') ?? sameRelations
    return row as unknown as Row & Related
  }
  const relatedIfFound = (row: AnyRow | undefined, person: Person) => row && related(row, person)
  const keysetOf = (order = defaultOrder) => (order === undefined ? undefined : keysets.get(order))

  return {
    table,
    name,
    key,
    visibility,
    isVersioned: columns.version !== undefined,
    hasTextIds: table.id.dataType === 'string',
    keysetOf,
    textsOf: (row) => largeFields.map((field): unknown => Reflect.get(row, field) ?? null),
    async list(db, person, page, { order = defaultOrder, ...selection } = {}, relations) {
      const found = await lists.list(
        db,
        person,
        page,
        selection,
        { name: order, keyset: keysetOf(order) },
        relations,
      )
      return found.map((row) => related(row, person) as Row & Related & { bytes: number })
    },
    total: (db, person, { order: _, ...selection } = {}, relations) =>
      total && !selection.q
        ? total(db, person, selection as Parameters<typeof total>[2])
        : lists.total(db, person, selection, relations),
    async find(db, person, id) {
      const [row] = await selectOne(db).execute({
        userId: person.id,
        email: person.email,
        id: comparable(keyColumn, id),
      })
      return relatedIfFound(row, person)
    },
    async exists(db, id) {
      const found = await selectKey(db).execute({ id: comparable(keyColumn, id) })
      return found.length > 0
    },
    lock: async (tx, person, id) => relatedIfFound(await changes.lock(tx, person, id), person),
    insert: async (db, person, row, relations) =>
      relatedIfFound(await insert(db, person, row, relations), person),
    update: async (db, person, id, values, requirements) =>
      relatedIfFound(await changes.update(db, person, id, values, requirements), person),
    remove: async (db, person, id, requirements) => {
      const row = await changes.remove(db, person, id, requirements)
      return row && (withCount(row) as Row)
    },
    clear: (db, person) => db.delete(anyTable).where(visibility.isVisible(person, ofOwner)),
    all: (db, person) => {
      const query = db
        .select(withRelation(person))
        .from(anyTable)
        .where(visibility.isVisible(person, author === undefined ? ofOwner : [...ofOwner, 'author']))
        .orderBy(...(columns.createdAt ? [desc(columns.createdAt)] : []), desc(table.id))
      return query as unknown as SQLWrapper & PromiseLike<(Row & { relation?: string })[]>
    },
    leaving:
      members && createLeaving({ items: table, key: keyColumn, owner: columnOf(owner ?? ''), members }),
    members: members && createMembers<Role>({ items: table, key: keyColumn, visibility, members }),
    sources: lists.sources,
  }
}
