import { sql } from 'drizzle-orm'

import type { Database } from './database.ts'
import {
  type Journal,
  journalsOf,
  type Migration,
  MigrationError,
  readMigrations,
} from './migration-files.ts'
import { dummyTable, requireRow } from './statements.ts'

/** A migration in the database. Releases before the columns `name` and `breaking` stored neither. */
type Applied = Pick<Migration, 'time' | 'hash' | 'isBreaking'> & { name: string | undefined }

async function exists(db: Pick<Database, 'select'>, name: string) {
  const isTable = sql<boolean>`to_regclass(${name}) is not null`
  return requireRow(await db.select({ isTable }).from(dummyTable)).isTable
}

/** Returns the applied migrations. Undefined if the database has no table of applied migrations. */
async function readApplied(db: Pick<Database, 'select'>, journal: Journal): Promise<Applied[] | undefined> {
  if (!(await exists(db, `drizzle.${journal.migrationsTable}`))) return undefined
  const rows = await db
    .select({
      time: sql`created_at`.mapWith(Number),
      hash: sql`hash`.mapWith(String),
      name: sql<string | null>`to_jsonb(applied) ->> 'name'`,
      isBreaking: sql<boolean>`coalesce((to_jsonb(applied) ->> 'breaking')::boolean, false)`,
    })
    .from(sql`drizzle.${sql.identifier(journal.migrationsTable)} as applied`)
    .orderBy(sql`created_at`)
  return rows.map(({ name, ...row }) => ({ ...row, name: name ?? undefined }))
}

/** The state of the migrations of a database. */
export interface MigrationState {
  /** The names of the migrations that are not applied yet, in the order of their application. */
  pending: string[]
  /** The names of applied migrations whose files have changed since. */
  changed: string[]
  /** Applied migrations that this release does not know: of a later release or of another branch. */
  unknown: Applied[]
}

/** A journal, compared with the applied migrations. */
export interface Comparison {
  journal: Journal
  pending: Migration[]
  changed: Migration[]
  unknown: Applied[]
  /** Applied migrations whose name the database has not stored yet. */
  unnamed: Migration[]
  /**
   * Migrations of the engine that a release applied before the engine had its own table of applied migrations. That release
   * recorded them with the migrations of the service.
   */
  inherited: Migration[]
}

/** Reads the state of the migrations. Changes nothing. Throws if this release cannot migrate the database. */
export async function compareMigrations(
  db: Pick<Database, 'select'>,
  migrationsFolder: string,
): Promise<[engine: Comparison, application: Comparison]> {
  const [engine, application] = journalsOf(migrationsFolder)
  const stored = (await readApplied(db, application)) ?? []
  const storedByEngine = await readApplied(db, engine)
  const ofEngine = readMigrations(engine)
  const isFromBeforeEngine = !storedByEngine && stored.length > 0 && (await exists(db, 'verifications'))
  const times = new Set(stored.map(({ time }) => time))
  const inherited = isFromBeforeEngine ? ofEngine.filter(({ time }) => times.has(time)) : []
  if (isFromBeforeEngine && inherited.length === 0)
    throw new MigrationError(
      'The database is older than this release can migrate. Start release 1.0.0 once, which applies the missing migrations, and then this release.',
    )
  const appliedByEngine =
    storedByEngine ?? inherited.map(({ name, time, hash, isBreaking }) => ({ name, time, hash, isBreaking }))
  return [
    { journal: engine, inherited, ...compare(ofEngine, appliedByEngine) },
    {
      journal: application,
      inherited: [],
      ...compare(readMigrations(application), stored, ofEngine),
    },
  ]
}

/** Rules to find the row of a migration, in the order of their precedence. The last rule finds renamed files. */
const rules: ((migration: Migration, row: Applied) => boolean)[] = [
  ({ name }, row) => row.name === name,
  ({ time }, row) => row.name === undefined && row.time === time,
  (migration, { hash }) => hasHash(migration, hash),
]

const hasHash = ({ hash, hashWithCrLf }: Migration, stored: string) =>
  stored === hash || stored === hashWithCrLf

/**
 * Compares migrations and applied migrations as sets. The hash of a row with the time of a migration in `split` is not
 * compared: releases before the engine had its own table recorded one migration, of which each table now has a part.
 */
function compare(known: Migration[], applied: Applied[], split: readonly Migration[] = []) {
  const others = new Set(applied)
  const rows = new Map<Migration, Applied>()
  for (const rule of rules)
    for (const migration of known.filter((each) => !rows.has(each))) {
      const row = [...others].find((each) => rule(migration, each))
      if (!row) continue
      rows.set(migration, row)
      others.delete(row)
    }
  const splitTimes = new Set(split.map(({ time }) => time))
  const lastTime = Math.max(0, ...known.map(({ time }) => time))
  return {
    pending: known.filter((migration) => !rows.has(migration)),
    changed: known.filter((migration) => {
      const row = rows.get(migration)
      return row && !splitTimes.has(row.time) && !hasHash(migration, row.hash)
    }),
    unnamed: known.filter((migration) => rows.has(migration) && rows.get(migration)?.name === undefined),
    // Rows without a name are of releases before 1.0.0, unless their time is later than each known time.
    unknown: [...others].filter(({ name, time }) => name !== undefined || time > lastTime),
  }
}

const namesOf = (migrations: readonly Migration[]) => migrations.map(({ name }) => name)

export const toState = (comparisons: readonly Comparison[]): MigrationState => ({
  pending: comparisons.flatMap(({ pending }) => namesOf(pending)),
  changed: comparisons.flatMap(({ changed }) => namesOf(changed)),
  unknown: comparisons.flatMap(({ unknown }) => unknown),
})

/** Reads the state of the migrations. Changes nothing. Throws if this release cannot migrate the database. */
export const readMigrationState = async (db: Pick<Database, 'select'>, migrationsFolder: string) =>
  toState(await compareMigrations(db, migrationsFolder))
