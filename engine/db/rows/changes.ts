import { and, Column, eq, getTableName, is, type Placeholder, SQL, sql } from 'drizzle-orm'
import { type PgColumn, PgCustomColumn, type PgTable } from 'drizzle-orm/pg-core'

import { comparable } from '../column-types.ts'
import { type AcceptedVersions, hasAcceptedVersion, updatedIfChanged } from '../columns.ts'
import type { Database } from '../connection/database.ts'
import type { Person } from '../accounts/users.ts'
import { createVariants } from '../statements.ts'
import type { Columns } from './lists.ts'
import { type AnyRow, hasOneRelation, suffixOfRelations } from './pages.ts'
import { type Viewer, viewerPlaceholders, type Visibility } from './visibility.ts'

/** What a row and its person must fulfill, so that a statement changes the row. */
export interface Requirements {
  /** The versions that `If-Match` accepts. By default, any. */
  versions?: AcceptedVersions | undefined
  /** The relations that permit the change. By default, every relation. */
  relations?: readonly string[] | undefined
  /** The relations to a new parent that permit to move a row there. By default, every relation. */
  parentRelations?: readonly string[] | undefined
}

/** Requirements, or those of a prepared statement. */
interface Conditions extends Omit<Requirements, 'versions'> {
  versions?: AcceptedVersions | readonly Placeholder[] | undefined
}

/** Returns the condition of a change: the row has the id and an accepted version, and the person has one of the relations. */
export const createCondition =
  (key: PgColumn, { version }: Columns, visibility: Visibility) =>
  (viewer: Viewer, id: unknown, { versions = 'any', relations }: Conditions) =>
    and(
      eq(key, id),
      visibility.isVisible(viewer, relations),
      version && hasAcceptedVersion(version, versions),
    )

/** Returns the columns of a row, with the relations of a person if they differ between rows. */
export const selectedBy = (columns: Columns, visibility: Visibility) => (viewer: Viewer) => ({
  ...columns,
  ...(!hasOneRelation(visibility) && { relation: sql<string>`(${visibility.relation(viewer)})` }),
  ...countOf(visibility, viewer),
})

const countOf = ({ members }: Visibility, viewer: Viewer) =>
  members?.count && { [members.count.field]: sql<number>`(${members.count.ofRow(viewer)})` }

export type Values = Readonly<Record<string, unknown>>

/** Returns the values of a row, with an id of the parent that PostgreSQL can compare. */
export function withParentId(values: Values, columns: Columns, { parent }: Visibility): Values {
  const column = parent && columns[parent.key]
  return column && values[parent.key] !== undefined
    ? { ...values, [parent.key]: comparable(column, values[parent.key]) }
    : values
}

interface Options {
  table: PgTable
  /** The column that identifies a row. */
  key: PgColumn
  columns: Columns
  visibility: Visibility
  /** The fields that a change can set. */
  update: readonly string[]
}

/** A change of a row: with values, or with the placeholders of a prepared statement. */
interface Change extends Conditions {
  viewer: Viewer
  id: unknown
  /** The new values. */
  values: Values
}

/** A query of Drizzle, which can be prepared. */
interface Query extends PromiseLike<AnyRow[]> {
  prepare(name: string | undefined): { execute(parameters: Values): Promise<AnyRow[]> }
}

const nameOfValue = (field: string) => `new.${field}`
const nameOfVersion = (index: number) => `version${index}`

/** The statements that change or delete a row with an id. Each contains who may change the row. */
export function createChanges({ table, key, columns, visibility, update: fields }: Options) {
  const { parent, isParentVisible } = visibility
  const selectStatement = createVariants(getTableName(table))
  const fieldsWithUpdateFn = Object.keys(columns).filter((field) => columns[field]?.onUpdateFn)
  /** No placeholder can stand for SQL, which the encoder of a custom type can return, too. */
  const isSql = ([field, value]: [string, unknown]) =>
    is(value, SQL) || is(value, Column) || is(columns[field], PgCustomColumn)

  const isChangeable = createCondition(key, columns, visibility)
  const returned = selectedBy(columns, visibility)

  /** Returns the given values, and those of `$onUpdateFn`, which Drizzle would read only once for a prepared statement. */
  function valuesOf(changes: Values): Values {
    const given = fields.flatMap((field) => (changes[field] === undefined ? [] : [[field, changes[field]]]))
    const updated = fieldsWithUpdateFn.map((field) => [field, columns[field]?.onUpdateFn?.()])
    return Object.fromEntries([...updated, ...given]) as Values
  }

  /** Only given values change the time and the version of a row. */
  const isCompared = ([field]: [string, unknown]) => fields.includes(field)

  function updateQuery(db: Database, { viewer, id, values, parentRelations, ...requirements }: Change) {
    const target = parent && values[parent.key]
    const isTargetVisible =
      isParentVisible && parent && target !== undefined
        ? isParentVisible(sql`${sql.param(target, columns[parent.key])}`, viewer, parentRelations)
        : undefined
    const compared = Object.fromEntries(Object.entries(values).filter(isCompared))
    return db
      .update(table)
      .set({ ...values, ...updatedIfChanged(columns, compared) })
      .where(and(isChangeable(viewer, id, requirements), isTargetVisible))
      .returning(returned(viewer))
  }

  const selectQuery = (db: Database, { viewer, id, ...requirements }: Change) =>
    db
      .select(returned(viewer))
      .from(table)
      .where(isChangeable(viewer, id, requirements))

  const deleteQuery = (db: Database, { viewer, id, ...requirements }: Change) =>
    db
      .delete(table)
      .where(isChangeable(viewer, id, requirements))
      .returning(columns)

  /**
   * Runs a statement, which is prepared for each combination of fields, nulls, relations and number of versions. Null has no
   * placeholder, because Drizzle would encode it as a value of the column.
   */
  async function run(
    name: string,
    query: (db: Database, change: Change) => Query,
    db: Database,
    person: Person,
    { id, values, versions = 'any', ...relations }: Requirements & Pick<Change, 'id' | 'values'>,
  ) {
    const entries = Object.entries(values)
    if (entries.some(isSql))
      return query(db, { viewer: person, id: comparable(key, id), values, versions, ...relations })
    const variant = [
      name,
      ...entries.map(([field, value]) => `_${field}${value === null ? '_null' : ''}`),
      suffixOfRelations(relations.relations),
      relations.parentRelations ? `_to${suffixOfRelations(relations.parentRelations)}` : '',
      versions === 'any' ? '' : `_of_${versions.length}_versions`,
    ].join('')
    const statement = selectStatement(variant, (db) =>
      query(db, {
        viewer: viewerPlaceholders,
        id: sql.placeholder('id'),
        values: Object.fromEntries(
          entries.map(([field, value]) => [
            field,
            value === null ? null : sql.placeholder(nameOfValue(field)),
          ]),
        ),
        versions:
          versions === 'any' ? versions : versions.map((_, index) => sql.placeholder(nameOfVersion(index))),
        ...relations,
      }),
    )
    return statement(db).execute({
      userId: person.id,
      email: person.email,
      id: comparable(key, id),
      ...Object.fromEntries(entries.map(([field, value]) => [nameOfValue(field), value])),
      ...(versions !== 'any' &&
        Object.fromEntries(versions.map((version, index) => [nameOfVersion(index), version]))),
    })
  }

  return {
    /** Finds a row that the person may see, and locks it until the transaction ends. */
    async lock(tx: Database, person: Person, id: unknown) {
      const rows = await selectQuery(tx, { viewer: person, id: comparable(key, id), values: {} }).for(
        'update',
      )
      return rows.at(0) as AnyRow | undefined
    },

    /** Returns the row after the change. Undefined if no row fulfills the requirements. */
    async update(
      db: Database,
      person: Person,
      id: unknown,
      given: Values,
      requirements: Requirements = {},
    ): Promise<AnyRow | undefined> {
      const values = valuesOf(withParentId(given, columns, visibility))
      // An update in SQL needs at least one value.
      const isUpdate =
        fields.some((field) => field in values) || (columns.updatedAt ?? columns.version) !== undefined
      const rows = await (isUpdate
        ? run('_update', updateQuery, db, person, { id, values, ...requirements })
        : run('_find', selectQuery, db, person, { id, values, ...requirements }))
      return rows.at(0)
    },

    /** Returns the deleted row. Undefined if no row fulfills the requirements. */
    async remove(db: Database, person: Person, id: unknown, requirements: Requirements = {}) {
      const rows = await run('_delete', deleteQuery, db, person, { id, values: {}, ...requirements })
      return rows.at(0)
    },
  }
}
