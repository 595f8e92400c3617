import { and, eq, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'

import { type AcceptedVersions, differsFrom, hasAcceptedVersion, timeIf, versionIf } from '../columns.ts'
import type { Database } from '../database.ts'
import type { Person } from '../users.ts'
import { type AnyRow, type Columns, hasOneRelation } from './lists.ts'
import type { Viewer, Visibility } from './visibility.ts'

/** What a row and its person must fulfill, so that a statement changes the row. */
export interface Requirements {
  /** The versions that `If-Match` accepts. By default, any. */
  versions?: AcceptedVersions | undefined
  /** The relations that permit the change. By default, every relation. */
  relations?: readonly string[] | undefined
  /** The relations to a new parent that permit to move a row there. By default, every relation. */
  parentRelations?: readonly string[] | undefined
}

/** Returns the condition of a change: the row has the id and an accepted version, and the person has one of the relations. */
export const createCondition =
  (table: PgTable & { id: PgColumn }, { version }: Columns, visibility: Visibility) =>
  (person: Person, id: unknown, { versions = 'any', relations }: Requirements) =>
    and(
      eq(table.id, id),
      visibility.isVisible(person, relations),
      version && hasAcceptedVersion(version, versions),
    )

/** Returns the columns of a row, with the relations of a person if they differ between rows. */
export const selectedBy = (columns: Columns, visibility: Visibility) => (viewer: Viewer) => ({
  ...columns,
  ...(!hasOneRelation(visibility) && { relation: sql<string>`(${visibility.relation(viewer)})` }),
})

interface Options {
  table: PgTable & { id: PgColumn }
  columns: Columns
  visibility: Visibility
  /** The fields that a change can set. */
  update: readonly string[]
}

/** The statements that change or delete a row with an id. Each contains who may change the row. */
export function createChanges({ table, columns, visibility, update: fields }: Options) {
  const { parent, isParentVisible } = visibility
  const { version, updatedAt } = columns

  const isChangeable = createCondition(table, columns, visibility)

  const returned = selectedBy(columns, visibility)

  /** The new values, with the new time and version if a value differs. */
  function valuesOf(changes: Readonly<Record<string, unknown>>) {
    const given = Object.fromEntries(
      fields.flatMap((field) => (changes[field] === undefined ? [] : [[field, changes[field]]])),
    )
    const isChanged = differsFrom(columns, given)
    return {
      ...given,
      ...(updatedAt && { updatedAt: timeIf(isChanged, updatedAt) }),
      ...(version && { version: versionIf(isChanged, version) }),
    }
  }

  return {
    /** Finds a row that the person may see, and locks it until the transaction ends. */
    async lock(tx: Database, person: Person, id: unknown) {
      const rows = await tx
        .select(returned(person))
        .from(table)
        .where(isChangeable(person, id, {}))
        .for('update')
      return rows.at(0) as AnyRow | undefined
    },

    /** Returns the row after the change. Undefined if no row fulfills the requirements. */
    async update(
      db: Database,
      person: Person,
      id: unknown,
      changes: Readonly<Record<string, unknown>>,
      requirements: Requirements = {},
    ): Promise<AnyRow | undefined> {
      const isPermitted = isChangeable(person, id, requirements)
      const values = valuesOf(changes)
      if (Object.keys(values).length === 0) {
        const rows = await db.select(returned(person)).from(table).where(isPermitted)
        return rows.at(0)
      }
      const target = parent && changes[parent.key]
      const isTargetVisible =
        isParentVisible && parent && target !== undefined
          ? isParentVisible(
              sql`${sql.param(target, columns[parent.key])}`,
              person,
              requirements.parentRelations,
            )
          : undefined
      const rows = await db
        .update(table)
        .set(values)
        .where(and(isPermitted, isTargetVisible))
        .returning(returned(person))
      return rows.at(0)
    },

    /** Returns the deleted row. Undefined if no row fulfills the requirements. */
    async remove(db: Database, person: Person, id: unknown, requirements: Requirements = {}) {
      const rows = await db
        .delete(table)
        .where(isChangeable(person, id, requirements))
        .returning(columns)
      return rows.at(0)
    },
  }
}
