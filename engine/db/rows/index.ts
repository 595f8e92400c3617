import {
  and,
  desc,
  eq,
  getTableColumns,
  getTableName,
  type InferInsertModel,
  type InferSelectModel,
  sql,
  type SQLWrapper,
} from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'

import type { Database } from '../database.ts'
import { createKeyset, type Keyset, type SortKey, type SortValues } from '../keyset.ts'
import type { PageRequest, Position, SizedRow } from '../pagination.ts'
import { prepared } from '../statements.ts'
import type { Person } from '../users.ts'
import { createChanges, type Requirements, selectedBy } from './changes.ts'
import { createInsert } from './inserts.ts'
import { type AnyRow, type Columns, createLists, type Given, hasOneRelation, largeFieldsOf } from './lists.ts'
import { createMembers } from './members.ts'
import {
  owned,
  OWNER,
  type RowRelations,
  type Viewer,
  viewerPlaceholders,
  type Visibility,
  type VisibilityOf,
  withRelations,
} from './visibility.ts'

export { type MembersTable, owned, OWNER, shared, within } from './visibility.ts'
export type { Member } from './members.ts'
export type { Requirements } from './changes.ts'

type RowsTable = PgTable & { id: PgColumn }

type FieldOf<Table extends PgTable> = keyof InferSelectModel<Table> & string
type InsertableOf<Table extends PgTable> = keyof InferInsertModel<Table> & FieldOf<Table>

/** A column by which a list is sorted. */
export interface SortField<Field extends string> extends Omit<SortKey, 'column'> {
  column: Field
}

/** Who may see a row. By default, the account in the column `userId`: `owned()`. */
type Visible<Table extends RowsTable> =
  'userId' extends FieldOf<Table>
    ? { visible?: VisibilityOf<FieldOf<Table>> }
    : { visible: VisibilityOf<FieldOf<Table>> }

/** The values of a new row. */
export type NewRow<Table extends PgTable, Create extends PropertyKey> = Pick<
  InferInsertModel<Table>,
  Create & keyof InferInsertModel<Table>
>

/** The values of a change. An omitted field keeps its value. */
export type ChangesOf<Table extends PgTable, Update extends PropertyKey> = {
  [Field in Update & keyof InferInsertModel<Table>]?: InferInsertModel<Table>[Field] | undefined
}

/** How an application uses the rows of a table. */
export type RowsOptions<
  Table extends RowsTable,
  Create extends InsertableOf<Table>,
  Update extends InsertableOf<Table>,
  Filter extends FieldOf<Table>,
  OrderName extends string,
> = Visible<Table> & {
  /** The fields that a new row gets from the caller. The database or `$defaultFn` sets the others. */
  create: readonly Create[]
  /** The fields that a change can set. */
  update?: readonly Update[]
  /** The fields by whose values a list can be filtered. */
  filter?: readonly Filter[]
  /** The fields with texts that `q` searches. */
  search?: readonly FieldOf<Table>[]
  /**
   * The orders of a list by name: `{ due: [{ column: 'dueAt' }] }`. The first is the default. The id is always the last column. By
   * default, the newest row is first.
   */
  orders?: Readonly<Record<OrderName, readonly SortField<FieldOf<Table>>[]>>
  /** The field with the account that creates a row within a parent. The person has the relation `author`. */
  author?: FieldOf<Table>
  /** Further relations to a row that the person sees, by name: conditions on the row. */
  relations?: RowRelations
  /** Counts the rows of a list without a search, faster than `count(*)`. */
  total?: (
    db: Database,
    person: Person,
    filter: { [Key in Filter]?: InferSelectModel<Table>[Key] | undefined },
  ) => Promise<number>
}

/** The relations of a person to a row, for example `['owner']` or `['agent', 'author']`. */
export interface Related {
  relations: readonly string[]
}

/** The values that select the rows of a list: of filters, the search `q`, the id of a parent, and the name of the order. */
export type ListSelection = Given & { q?: string | undefined; order?: string | undefined }

/**
 * The queries of a table. Each reads or changes only rows that the person may see.
 *
 * @example
 * const book = await bookRows.find(db, user, input.id)
 */
export interface Rows<Row = object, New = never, Changes = never> {
  table: RowsTable
  name: string
  visibility: Visibility
  /** Whether the rows have a version, which changes compare with `If-Match`. */
  isVersioned: boolean
  /** Whether the ids are texts, for example UUIDs. */
  hasTextIds: boolean
  /** The keyset of an order. Undefined for the default order of tables without `orders`: newest first. */
  keysetOf: (order: string | undefined) => Keyset | undefined
  /** The values that limit the bytes of a page. */
  textsOf: (row: object) => readonly unknown[]
  list: (
    db: Database,
    person: Person,
    page: RowsRequest,
    selection?: ListSelection,
    relations?: readonly string[],
  ) => Promise<SizedRow<Omit<Row, 'version'> & Related>[]>
  /** Counts the rows of a list. */
  total: (
    db: Database,
    person: Person,
    selection?: ListSelection,
    relations?: readonly string[],
  ) => Promise<number>
  /** Finds a row that the person may see. */
  find: (db: Database, person: Person, id: unknown) => Promise<(Row & Related) | undefined>
  /** Finds a row that the person may see, and locks it until the transaction ends. */
  lock: (tx: Database, person: Person, id: unknown) => Promise<(Row & Related) | undefined>
  /** Inserts a row. Undefined if the person may not see its parent with one of these relations. */
  insert: (
    db: Database,
    person: Person,
    row: New,
    relations?: readonly string[],
  ) => Promise<(Row & Related) | undefined>
  /** Changes a row that fulfills the requirements. Undefined if there is no such row. */
  update: (
    db: Database,
    person: Person,
    id: unknown,
    changes: Changes,
    requirements?: Requirements,
  ) => Promise<(Row & Related) | undefined>
  /** Deletes a row that fulfills the requirements. Returns the deleted row. Undefined if there is no such row. */
  remove: (db: Database, person: Person, id: unknown, requirements?: Requirements) => Promise<Row | undefined>
  /** Deletes all rows that the person owns. */
  clear: (db: Database, person: Person) => PromiseLike<unknown>
  /** The query of an export: the rows that the person owns or wrote, newest first. */
  all: (db: Database, person: Person) => SQLWrapper & PromiseLike<(Row & { relation?: string })[]>
  /** The people with access to a row by address. Undefined if the rows have no members. */
  members: ReturnType<typeof createMembers> | undefined
  /** Lists the ids that a list of all rows depends on, besides the account: of the parents, or of rows of other people. */
  listSources: (db: Database, person: Person) => Promise<(string | number)[]>
}

/** A page, from the beginning of a list or after a position in its order. */
export type RowsRequest = PageRequest<Position | SortValues>

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
>(
  table: Table,
  options: RowsOptions<Table, Create, Update, Filter, OrderName>,
): Rows<InferSelectModel<Table>, NewRow<Table, Create>, ChangesOf<Table, Update>> {
  type Row = InferSelectModel<Table>
  const { create, update = [], filter = [], search = [], author, total } = options
  /** The types of Drizzle cannot select from a table that a type parameter stands for. */
  const anyTable: PgTable = table
  const name = getTableName(table)
  const columns = getTableColumns(table) as Record<string, PgColumn>
  const columnOf = (field: string) => {
    const column = columns[field]
    if (!column) throw new Error(`The table ${name} has no column ${field}`)
    return column
  }
  const isAuthor = author && ((viewer: Viewer) => eq(columnOf(author), viewer.id))
  const visibility: Visibility = withRelations(
    (options.visible ?? owned())(
      table,
      columns as Record<FieldOf<Table>, PgColumn> & Record<'userId', PgColumn>,
    ),
    {
      ...(isAuthor && { author: isAuthor }),
      ...options.relations,
    },
  )
  const listed: Columns = Object.fromEntries(
    Object.entries(columns).filter(
      ([field]) => field !== 'version' && !(field === visibility.owner && hasOneRelation(visibility)),
    ),
  )
  const orders = new Map(
    Object.entries<readonly SortField<string>[]>(options.orders ?? {}).map(([key, fields]) => {
      const keys = fields.map(({ column, ...key }) => ({ ...key, column: columnOf(column) }))
      const [last] = keys.slice(-1)
      return [
        key,
        createKeyset(...keys, { column: table.id, ...(last?.direction && { direction: last.direction }) }),
      ]
    }),
  )
  const [defaultOrder] = orders.keys()
  const lists = createLists({ table, columns, listed, visibility, filters: filter, search })
  const insert = createInsert({ table, columns, visibility, create, creator: visibility.owner ?? author })
  const changes = createChanges({ table, columns, visibility, update })
  const largeFields = largeFieldsOf(listed)

  const ofOwner = [OWNER]

  const withRelation = selectedBy(columns, visibility)

  const selectOne = prepared((db) =>
    db
      .select(withRelation(viewerPlaceholders))
      .from(anyTable)
      .where(and(eq(table.id, sql.placeholder('id')), visibility.isVisible(viewerPlaceholders)))
      .prepare(`${name}_find`),
  )

  /**
   * Adds the relations, and the owner that a list of own rows does not select. Changes the row of the driver: a copy of each row
   * would take a fourth of the time of a list. The types of the statements do not know the table.
   */
  function related(row: AnyRow, { id }: Person) {
    if (visibility.owner !== undefined) row[visibility.owner] ??= id
    row.relations = row.relation?.split(',') ?? ofOwner
    return row as unknown as Row & Related
  }
  const find = (row: AnyRow | undefined, person: Person) => row && related(row, person)
  const keysetOf = (order = defaultOrder) => (order === undefined ? undefined : orders.get(order))

  return {
    table,
    name,
    visibility,
    isVersioned: columns.version !== undefined,
    hasTextIds: table.id.dataType === 'string',
    keysetOf,
    textsOf: (row) => largeFields.map((field): unknown => Reflect.get(row, field) ?? null),
    async list(db, person, page, { order = defaultOrder, ...selection } = {}, relations) {
      const rows = await lists.list(
        db,
        person,
        page,
        selection,
        { name: order, keyset: keysetOf(order) },
        relations,
      )
      return rows.map((row) => related(row, person) as Row & Related & { bytes: number })
    },
    total: (db, person, { order: _, ...selection } = {}, relations) =>
      total && !selection.q
        ? total(db, person, selection as Parameters<typeof total>[2])
        : lists.total(db, person, selection, relations),
    async find(db, person, id) {
      const rows = await selectOne(db).execute({ userId: person.id, email: person.email, id })
      return find(rows[0], person)
    },
    lock: async (tx, person, id) => find(await changes.lock(tx, person, id), person),
    insert: async (db, person, row, relations) => find(await insert(db, person, row, relations), person),
    update: async (db, person, id, values, requirements) =>
      find(await changes.update(db, person, id, values, requirements), person),
    remove: async (db, person, id, requirements) =>
      (await changes.remove(db, person, id, requirements)) as Row | undefined,
    clear: (db, person) => db.delete(anyTable).where(visibility.isVisible(person, [OWNER])),
    all: (db, person) => {
      const query = db
        .select(withRelation(person))
        .from(anyTable)
        .where(visibility.isVisible(person, author === undefined ? [OWNER] : [OWNER, 'author']))
        .orderBy(...(columns.createdAt ? [desc(columns.createdAt)] : []), desc(table.id))
      return query as unknown as SQLWrapper & PromiseLike<(Row & { relation?: string })[]>
    },
    members: visibility.members && createMembers(table, visibility, visibility.members),
    listSources: lists.listSources,
  }
}
