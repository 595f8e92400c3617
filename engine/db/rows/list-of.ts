import { getTableColumns, sql } from 'drizzle-orm'

import type { Database } from '../connection/database.ts'
import type { Person } from '../accounts/users.ts'
import type { Requirements } from './changes.ts'
import { createListStatements, type ListFields, type Part } from './list-statements.ts'
import type { RowsTable } from './options.ts'
import { type AnyRow, branchesOf, hasOneRelation } from './pages.ts'
import type { Related, Rows } from './queries.ts'
import {
  type AnySelect,
  createSelectedRows,
  createVisibleRows,
  offline,
  selectBranches,
  type SelectOfVisible,
  type VisibleRows,
} from './selects.ts'
import { type Viewer, viewerPlaceholders } from './visibility.ts'

type RowOf<Query extends AnySelect> = Query['_']['result'][number]

/**
 * A select with the fields that the list names. A constraint of these fields would keep the compiler from inferring the select.
 */
interface SelectWith<Field extends string> {
  _: { result: Readonly<Record<Field, unknown>>[] }
}

interface Options<
  Row,
  New,
  Changes,
  Role extends string,
  Table extends RowsTable,
  Query extends AnySelect,
  Field extends string,
> extends ListFields<Field> {
  /** The rows whose visible part the list shows. */
  visible: Rows<Row, New, Changes, Role, Table>
  /**
   * Returns the select, without an order and a limit. `rows` are the rows that the caller may see: the select begins with them.
   * Its field `id` is unique.
   */
  select: (db: Database, rows: VisibleRows<Table>, viewer: Viewer) => Query & SelectWith<Field>
}

/**
 * A list from a select of Drizzle: joins, expressions and groups. The engine adds order, filters, search, and the end of a page
 * by rows and by bytes. A list of `rows` is itself such rows: `resource` shows them, also after a change.
 *
 * @example
 * export const loanList = listOf('loans', {
 *   visible: loanRows,
 *   select: (db, loans) =>
 *     db
 *       .select({ id: loans.id, createdAt: loans.createdAt, title: books.title })
 *       .from(loans)
 *       .innerJoin(books, eq(books.id, loans.bookId)),
 *   search: ['title'],
 * })
 */
export function listOf<
  Row,
  New,
  Changes,
  Role extends string,
  Table extends RowsTable,
  Query extends SelectOfVisible,
  const Field extends string = never,
>(
  name: string,
  { visible: rows, select, ...options }: Options<Row, New, Changes, Role, Table, Query, Field>,
): Rows<RowOf<Query>, New, Changes, Role, Table> {
  const { table, visibility } = rows
  function selectVisible({ viewer, criteria, relations }: Part) {
    // Branches let indexes serve a page, but can need the id of a parent. One row, or all rows, are one select.
    const branches = criteria
      ? branchesOf(name, visibility, criteria, relations)
      : [
          {
            from: sql`${table}`,
            condition: visibility.isVisible(viewer, relations),
            relation: visibility.relation(viewer),
          },
        ]
    const visibleRows = createVisibleRows(table, selectBranches(table, branches))
    const query = select(offline, visibleRows, viewer)
    // A table of the application can have the name of the visible rows, so the compiler does not see each mistake.
    if (query._.config.table !== visibleRows)
      throw new Error(`The list ${name}: the select must begin with the visible rows, its second parameter`)
    return query
  }
  const selectRows = (part: Part) => createSelectedRows(name, selectVisible(part))
  let created: ReturnType<typeof createListStatements> | undefined

  /** Creates the statements on their first use, because modules of tables can import each other. */
  function statements() {
    created ??= createListStatements({
      name,
      visibility,
      columns: getTableColumns(table),
      selectRows,
      ...options,
    })
    return created
  }

  const relationsOf = ({ relation }: AnyRow) =>
    relation?.split(',') ?? (hasOneRelation(visibility) ? visibility.relations : [])

  /** Adds the fields of the list to a row of the table. The row is read before, so that its version is not newer. */
  async function complete(db: Database, person: Person, row: (object & Related) | undefined) {
    const selected = row && (await statements().find(db, person, Reflect.get(row, 'id')))
    return selected && { ...row, ...selected }
  }

  const listed = {
    ...rows,
    name,
    checkDeclaration() {
      const { fields } = statements()
      const isGrouped = selectVisible({ viewer: viewerPlaceholders })._.config.groupBy !== undefined
      if (!hasOneRelation(visibility) && !fields.relation && !isGrouped)
        throw new Error(`The list ${name} needs the field relation of the visible rows in its select`)
    },
    keysetOf: (order: string | undefined, db: Database) => statements().keysetOf(order, db),
    textsOf: (row: object) => statements().textsOf(row),
    async list(...call: Parameters<ReturnType<typeof statements>['list']>) {
      const found = await statements().list(...call)
      for (const row of found) row.relations = relationsOf(row)
      return found
    },
    total: (...call: Parameters<ReturnType<typeof statements>['total']>) => statements().total(...call),
    find: async (db: Database, person: Person, id: unknown) =>
      complete(db, person, await rows.find(db, person, id)),
    lock: async (tx: Database, person: Person, id: unknown) =>
      complete(tx, person, await rows.lock(tx, person, id)),
    insert: async (db: Database, person: Person, row: New, relations?: readonly string[]) =>
      complete(db, person, await rows.insert(db, person, row, relations)),
    update: async (
      db: Database,
      person: Person,
      id: unknown,
      changes: Changes,
      requirements?: Requirements,
    ) => complete(db, person, await rows.update(db, person, id, changes, requirements)),
    async remove(db: Database, person: Person, id: unknown, requirements?: Requirements) {
      const selected = await statements().find(db, person, id)
      const row = await rows.remove(db, person, id, requirements)
      return row && { ...row, ...selected }
    },
    all: (db: Database, person: Person) => statements().all(db, person, [visibility.ownerRelation, 'author']),
  }
  // The statements do not know the type of the rows, which is that of the select.
  return listed as unknown as Rows<RowOf<Query>, New, Changes, Role, Table>
}
