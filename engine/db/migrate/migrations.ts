import { sql } from 'drizzle-orm'

import type { Database } from '../connection/database.ts'
import {
  type Journal,
  journalsOf,
  type Migration,
  MigrationError,
  readMigrations,
} from './migration-files.ts'
import { listPendingJobMigrations } from '../jobs/install.ts'
import { dummyTable, requireRow } from '../statements.ts'

// How this release recognizes what release 1.0.0 applied. Release 1.0.0 recorded all migrations in the table of the
// application, with time and hash, but without name:
//
// - The engine now has a table of its own. Each migration of 1.0.0 was split into one of the engine and one of the application,
//   which both have the time of the original. On a database of 1.0.0, the migrations of the engine with a recorded time are
//   therefore applied (`inherited`), and the hashes of split migrations are not compared.
// - A row without name belongs to the migration with its time. Rows without name that belong to none are from before 1.0.0.
// - A database from before 1.0.0 has none of these times, and is refused.

/** A migration in the database. Release 1.0.0 stored no `name`, and never `breaking`. */
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

/** What an application needs of its database. */
export interface WantedMigrations {
  /** The folder of the migrations of the application. */
  migrationsFolder: string
  /** The names of the jobs of the application. */
  queues?: readonly string[] | undefined
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
  /** Migrations of the engine that release 1.0.0 applied, and recorded in the table of the application. */
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
  const isOfEarlierRelease = !storedByEngine && stored.length > 0 && (await exists(db, 'verifications'))
  const times = new Set(stored.map(({ time }) => time))
  const inherited = isOfEarlierRelease ? ofEngine.filter(({ time }) => times.has(time)) : []
  if (isOfEarlierRelease && inherited.length === 0)
    throw new MigrationError(
      'The database is older than this release can migrate. Start release 1.0.0 once, which applies the missing migrations, and then this release.',
    )
  const appliedByEngine =
    storedByEngine ?? inherited.map(({ name, time, hash, isBreaking }) => ({ name, time, hash, isBreaking }))
  return [
    { journal: engine, inherited, ...compare(ofEngine, appliedByEngine) },
    { journal: application, inherited: [], ...compare(readMigrations(application), stored, ofEngine) },
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
 * Compares the migrations of this release (`wanted`) with the applied migrations, as sets. Does not compare the hash of a row with the
 * time of a migration in `split`: release 1.0.0 recorded the hash of the migration before it was split.
 */
function compare(wanted: Migration[], applied: Applied[], split: readonly Migration[] = []) {
  const unmatched = new Set(applied)
  const rowOf = new Map<Migration, Applied>()
  for (const rule of rules)
    for (const migration of wanted) {
      const row = rowOf.has(migration) ? undefined : [...unmatched].find((other) => rule(migration, other))
      if (!row) continue
      rowOf.set(migration, row)
      unmatched.delete(row)
    }
  const splitTimes = new Set(split.map(({ time }) => time))
  const lastTime = Math.max(0, ...wanted.map(({ time }) => time))
  return {
    pending: wanted.filter((migration) => !rowOf.has(migration)),
    changed: wanted.filter((migration) => {
      const row = rowOf.get(migration)
      return row && !splitTimes.has(row.time) && !hasHash(migration, row.hash)
    }),
    unnamed: wanted.filter((migration) => rowOf.has(migration) && rowOf.get(migration)?.name === undefined),
    // Rows without a name are from before 1.0.0, unless their time is later than the time of each migration.
    unknown: [...unmatched].filter(({ name, time }) => name !== undefined || time > lastTime),
  }
}

const namesOf = (migrations: readonly Migration[]) => migrations.map(({ name }) => name)

export const toState = (comparisons: readonly Comparison[]): MigrationState => ({
  pending: comparisons.flatMap(({ pending }) => namesOf(pending)),
  changed: comparisons.flatMap(({ changed }) => namesOf(changed)),
  unknown: comparisons.flatMap(({ unknown }) => unknown),
})

/** Reads the state of the migrations. Changes nothing. Throws if this release cannot migrate the database. */
export async function readMigrationState(
  db: Pick<Database, 'select'>,
  { migrationsFolder, queues = [] }: WantedMigrations,
): Promise<MigrationState> {
  const state = toState(await compareMigrations(db, migrationsFolder))
  const ofJobs = await listPendingJobMigrations(db, queues)
  return { ...state, pending: [...state.pending, ...ofJobs.map(({ name }) => name)] }
}
