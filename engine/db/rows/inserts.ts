import { getTableName, is, SQL, sql } from 'drizzle-orm'
import { type PgColumn, PgJson, PgJsonb, type PgTable, pgTable, text } from 'drizzle-orm/pg-core'

import { columnName } from '../column-types.ts'
import type { Database } from '../connection/database.ts'
import { isConstraintViolation, isDataException } from '../errors.ts'
import { createVariants, coalesced, requireRow } from '../statements.ts'
import type { Person } from '../accounts/users.ts'
import { type Values, withParentId } from './changes.ts'
import type { Columns } from './lists.ts'
import { type AnyRow, suffixOfRelations } from './pages.ts'
import { type Visibility, viewerPlaceholders } from './visibility.ts'

interface Options {
  table: PgTable & { id: PgColumn }
  columns: Columns
  visibility: Visibility
  /** The fields with a value in a new row. The database sets the other fields. */
  create: readonly string[]
  /** The field with the account that creates the row, if any: the owner or the author. */
  creator: string | undefined
}

/** Maximum number of statements that insert rows of a table at the same time. */
const MAX_CONCURRENT_INSERTS = 4

/** Maximum number of rows in one statement. */
const MAX_INSERTED = 32

/**
 * Creates the function that inserts a row. Returns undefined if the person may not see the parent of the row with one of the
 * relations. Rows without a parent are inserted together with the rows of concurrent callers, in one statement with one commit.
 */
export function createInsert({ table, columns, visibility, create, creator }: Options) {
  const name = getTableName(table)
  const { isParentVisible, parent } = visibility
  const variantOf = createVariants(name)
  // As in inserts of Drizzle, `$onUpdateFn` also gives the first value of a column without a default.
  const defaults = Object.entries(columns).flatMap(
    ([field, { defaultFn, onUpdateFn, default: ofDatabase }]) => {
      const createValue = defaultFn ?? (ofDatabase === undefined ? onUpdateFn : undefined)
      return createValue ? [[field, createValue] as const] : []
    },
  )

  /** The values of a row, without the values that the database sets. */
  function valuesOf(person: Person, given: Values): Values {
    const values: Record<string, unknown> = {}
    for (const field of create) if (given[field] !== undefined) values[field] = given[field]
    for (const [field, createValue] of defaults) values[field] ??= createValue()
    if (creator !== undefined) values[creator] = person.id
    return values
  }

  /**
   * The rows are one parameter in JSON. `unnest` of one array for each column would flatten columns that are arrays. A second table
   * object has only the columns of the new row: Drizzle would otherwise insert null into the others.
   */
  const insertStatement = (fields: readonly string[], relations: readonly string[] | undefined) =>
    variantOf(`_insert_${fields.join(',')}${suffixOfRelations(relations)}`, (db) => {
      const names = fields.map((field) => columnName(columns[field] as PgColumn))
      const insertable = pgTable(name, Object.fromEntries(names.map((column) => [column, text(column)])))
      const newColumns = names.map((column) => sql`new.${sql.identifier(column)}`)
      const parentColumn = parent && columnName(columns[parent.key] as PgColumn)
      const isPermitted =
        isParentVisible && parentColumn !== undefined
          ? sql`where ${isParentVisible(sql`new.${sql.identifier(parentColumn)}`, viewerPlaceholders, relations)}`
          : sql``
      return db
        .insert(insertable)
        .select(
          sql`select ${sql.join(newColumns, sql`, `)}
          from jsonb_populate_recordset(null::${table}, ${sql.placeholder('rows')}::text::jsonb) with ordinality as new
          ${isPermitted} order by new.ordinality`,
        )
        .returning({
          ...columns,
          // A person creates other rows as their owner, so only a parent can give another relation.
          ...(parent && { relation: sql<string>`(${visibility.relation(viewerPlaceholders)})` }),
        })
    })

  const encodeAll = (rows: readonly Values[]) =>
    JSON.stringify(
      rows.map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([field, value]) => {
            const column = columns[field] as PgColumn
            return [columnName(column), toJsonValue(column, value)]
          }),
        ),
      ),
    )

  const execute = (
    db: Database,
    fields: readonly string[],
    rows: readonly Values[],
    person?: Person,
    relations?: readonly string[],
  ) =>
    insertStatement(
      fields,
      relations,
    )(db).execute({ rows: encodeAll(rows), userId: person?.id, email: person?.email }) as Promise<AnyRow[]>

  /**
   * If a row violates a constraint or has a value that its column cannot store, inserts each row separately, so that only the
   * callers of invalid rows receive an error.
   */
  const createLoader = (fields: readonly string[]) =>
    coalesced(
      MAX_CONCURRENT_INSERTS,
      async (db, rows: readonly Values[]): Promise<(AnyRow | Error)[]> => {
        try {
          return await execute(db, fields, rows)
        } catch (error) {
          if (!isConstraintViolation(error) && !isDataException(error)) throw error
          return Promise.all(
            rows.map((row) =>
              execute(db, fields, [row]).then(requireRow, (failure: unknown) => failure as Error),
            ),
          )
        }
      },
      MAX_INSERTED,
    )
  const loaders = new Map<string, ReturnType<typeof createLoader>>()

  return async (db: Database, person: Person, given: Values, relations?: readonly string[]) => {
    const values = valuesOf(person, withParentId(given, columns, visibility))
    const fields = Object.keys(values)
    if (parent) return (await execute(db, fields, [values], person, relations)).at(0)
    const key = fields.join()
    const loader = loaders.get(key) ?? createLoader(fields)
    loaders.set(key, loader)
    return loader(db).load(values)
  }
}

/** The value of a column in JSON that `jsonb_populate_recordset` converts to the type of the column. */
function toJsonValue(column: PgColumn, value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (is(value, SQL)) throw new Error(`The default of ${column.name} must be a value`)
  if (is(column, PgJson) || is(column, PgJsonb)) return value
  const encoded: unknown = column.mapToDriverValue(value)
  if (encoded instanceof Uint8Array) return `\\x${Buffer.from(encoded).toString('hex')}`
  if (encoded instanceof Date) return encoded.toISOString()
  return typeof encoded === 'bigint' || (typeof encoded === 'number' && !Number.isFinite(encoded))
    ? String(encoded)
    : encoded
}
