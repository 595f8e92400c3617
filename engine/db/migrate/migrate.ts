import { sql } from 'drizzle-orm'

import type { Database } from '../connection/database.ts'
import { listPendingJobMigrations } from '../jobs/install.ts'
import { toMigrationError } from './migration-errors.ts'
import { type Migration, MigrationError, type Statement, withoutLeadingComments } from './migration-files.ts'
import {
  type Comparison,
  compareMigrations,
  type MigrationState,
  toState,
  type WantedMigrations,
} from './migrations.ts'

/** Sends one or more statements, without parameters. */
type Run = (text: string) => Promise<unknown>

/** The only connection to a database while the database is migrated. */
export interface MigrationSession {
  db: Pick<Database, 'select'>
  run: Run
  transaction: (work: (run: Run) => Promise<void>) => Promise<unknown>
}

export type OnApplied = (name: string) => void

/**
 * Applies the pending migrations, each in a transaction of its own. Returns the state before. Throws before the first
 * migration if a migration of another release is breaking. After an error, the earlier migrations stay applied.
 */
export async function applyMigrations(
  session: MigrationSession,
  wanted: WantedMigrations,
  onApplied: OnApplied = () => undefined,
): Promise<MigrationState> {
  const comparisons = await compareMigrations(session.db, wanted.migrationsFolder)
  const state = toState(comparisons)
  const breaking = state.unknown.find(({ isBreaking }) => isBreaking)
  if (breaking)
    throw new MigrationError(
      `The database has the migration ${breaking.name ?? ''} of another release, and this release cannot use the database after it. Start the release that has the migration.`,
    )
  for (const comparison of comparisons) {
    const { pending, inherited, journal } = comparison
    const table = `drizzle."${journal.migrationsTable}"`
    const [first] = [...inherited, ...pending]
    if (!first) continue
    await session.transaction((run) => prepareTable(run, table, comparison)).catch(rethrowAs(first))
    for (const migration of pending) {
      await apply(session, table, migration)
      onApplied(migration.name)
    }
  }
  const ofJobs = await applyJobMigrations(session, wanted, onApplied)
  return { ...state, pending: [...state.pending, ...ofJobs] }
}

/** Creates the schema and the queues of the jobs, after the migrations. Returns the names of the steps. */
async function applyJobMigrations(
  { db, transaction }: MigrationSession,
  { queues = [] }: WantedMigrations,
  onApplied: OnApplied,
) {
  const pending = await listPendingJobMigrations(db, queues)
  for (const { name, text } of pending) {
    await transaction(async (run) => {
      await run(text)
    })
    onApplied(name)
  }
  return pending.map(({ name }) => name)
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`

const insertInto = (table: string, { hash, time, name, isBreaking }: Migration) =>
  `insert into ${table} (hash, created_at, name, breaking) values (${literal(hash)}, ${time}, ${literal(name)}, ${isBreaking})`

/** Creates the table of applied migrations, in the form of drizzle and with names. Records the inherited migrations. */
async function prepareTable(run: Run, table: string, { inherited, unnamed }: Comparison) {
  await run('create schema if not exists drizzle')
  await run(
    `create table if not exists ${table} (id serial primary key, hash text not null, created_at bigint)`,
  )
  await run(
    `alter table ${table} add column if not exists name text, add column if not exists breaking boolean not null default false`,
  )
  for (const migration of inherited) await run(insertInto(table, migration))
  for (const { name, time, isBreaking } of unnamed)
    await run(
      `update ${table} set name = ${literal(name)}, breaking = ${isBreaking} where created_at = ${time} and name is null`,
    )
}

const rethrowAs =
  (migration: Migration, statement?: Statement) =>
  (error: unknown): never => {
    throw toMigrationError(error, migration, statement)
  }

/** Applies and records a migration, both or neither. */
async function apply(session: MigrationSession, table: string, migration: Migration) {
  const { statements, isTransactional } = migration
  if (!isTransactional) return applyWithoutTransaction(session, table, migration)
  await session
    .transaction(async (run) => {
      for (const statement of statements) await run(statement.text).catch(rethrowAs(migration, statement))
      await run(insertInto(table, migration))
    })
    .catch(rethrowAs(migration))
}

/**
 * Applies a migration that PostgreSQL refuses in a transaction. If the process dies between the statement and its record,
 * the next process runs the statement again.
 */
async function applyWithoutTransaction(session: MigrationSession, table: string, migration: Migration) {
  const [statement, ...others] = migration.statements
  if (!statement || others.length > 0)
    throw toMigrationError(
      new Error(
        'a migration with `-- no transaction` must have exactly one statement. Write one file for each.',
      ),
      migration,
    )
  const isBuilt = await removeInvalidIndex(session, statement).catch(rethrowAs(migration, statement))
  if (!isBuilt) await session.run(statement.text).catch(rethrowAs(migration, statement))
  await session.run(insertInto(table, migration)).catch(rethrowAs(migration))
}

const NAME = String.raw`("(?:[^"]|"")+"|\w+)`
const CONCURRENT_INDEX = new RegExp(
  String.raw`^create\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?${NAME}\s+on\s+(?:only\s+)?((?:${NAME}\.)?${NAME})`,
  'i',
)

/**
 * Drops the invalid index that an interrupted `create index concurrently` leaves. Returns whether the index exists, because
 * the process died after the statement and before its record.
 */
async function removeInvalidIndex({ db, run }: MigrationSession, { text }: Statement) {
  const [, name = '', table = ''] = CONCURRENT_INDEX.exec(withoutLeadingComments(text)) ?? []
  if (name === '') return false
  const [index] = await db
    .select({
      qualifiedName: sql<string>`format('%I.%I', nspname, relname)`,
      isValid: sql<boolean>`indisvalid`,
    })
    .from(
      sql`pg_index join pg_class on pg_class.oid = indexrelid join pg_namespace on pg_namespace.oid = relnamespace`,
    )
    .where(sql`indrelid = to_regclass(${table}) and relname = (parse_ident(${name}))[1]`)
  if (!index) return false
  if (!index.isValid) await run(`drop index concurrently ${index.qualifiedName}`)
  return index.isValid
}
