import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { sql } from 'drizzle-orm'
import { readMigrationFiles } from 'drizzle-orm/migrator'

import type { Database } from './database.ts'
import { dummyTable, requireRow } from './statements.ts'

/** The folder of the engine's migrations, seen from the bundle in dist/start and from this file. */
const engineFolder =
  ['./engine-migrations', './migrations']
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(path)) ?? ''

/** A folder of migrations, as drizzle-kit writes the files, and the table with the applied migrations. */
interface Journal {
  /** Begins the names of the migrations. */
  prefix: string
  migrationsFolder: string
  migrationsTable: string
}

/** The engine's migrations are first, because tables of an application reference tables of the engine. */
const journalsOf = (migrationsFolder: string): [engine: Journal, application: Journal] => [
  { prefix: 'tallystick/', migrationsFolder: engineFolder, migrationsTable: '__tallystick_migrations' },
  { prefix: '', migrationsFolder, migrationsTable: '__drizzle_migrations' },
]

interface Migration {
  name: string
  /** When the migration was created, in milliseconds since the Unix epoch. */
  time: number
  hash: string
  /** Whether programs of earlier releases cannot use the database afterwards: the file begins with `-- breaking`. */
  isBreaking: boolean
}

/** A migration in the database. Releases before the columns `name` and `breaking` stored neither. */
type Applied = Pick<Migration, 'time' | 'isBreaking'> & { name: string | undefined }

function readMigrations({ prefix, migrationsFolder }: Journal): Migration[] {
  const journal = readFileSync(join(migrationsFolder, 'meta/_journal.json'), 'utf8')
  const { entries } = JSON.parse(journal) as { entries: { tag: string }[] }
  return readMigrationFiles({ migrationsFolder }).map(({ folderMillis, hash, sql: [first = ''] }, index) => ({
    name: prefix + (entries[index]?.tag ?? ''),
    time: folderMillis,
    hash,
    isBreaking: first.trimStart().startsWith('-- breaking'),
  }))
}

const tableOf = ({ migrationsTable }: Journal) => sql`drizzle.${sql.identifier(migrationsTable)}`

async function exists(db: Pick<Database, 'select'>, name: string) {
  const isTable = sql<boolean>`to_regclass(${name}) is not null`
  return requireRow(await db.select({ isTable }).from(dummyTable)).isTable
}

/** Returns the applied migrations. Undefined if the database has no table of applied migrations. */
async function readApplied(db: Pick<Database, 'select'>, journal: Journal): Promise<Applied[] | undefined> {
  if (!(await exists(db, `drizzle.${journal.migrationsTable}`))) return undefined
  return db
    .select({
      time: sql`created_at`.mapWith(Number),
      name: sql<string | undefined>`to_jsonb(applied) ->> 'name'`,
      isBreaking: sql<boolean>`coalesce((to_jsonb(applied) ->> 'breaking')::boolean, false)`,
    })
    .from(sql`${tableOf(journal)} as applied`)
    .orderBy(sql`created_at`)
}

/** The state of the migrations of a database. */
export interface MigrationState {
  /** The names of the migrations that are not applied yet, in the order of their application. */
  pending: string[]
  /** Migrations of a later release. */
  unknown: Applied[]
  /**
   * Migrations of the engine that a release applied before the engine had its own table of applied migrations. That release
   * recorded them with the migrations of the service.
   */
  inherited: Migration[]
}

const lastTime = (migrations: readonly { time: number }[] = []) => migrations.at(-1)?.time ?? 0

/** Reads the state of the migrations. Changes nothing. Throws if this release cannot migrate the database. */
export async function readMigrationState(
  db: Pick<Database, 'select'>,
  migrationsFolder: string,
): Promise<MigrationState> {
  const [engine, application] = journalsOf(migrationsFolder)
  const stored = await readApplied(db, application)
  const storedByEngine = await readApplied(db, engine)
  const isFromBeforeEngine = !storedByEngine && lastTime(stored) > 0 && (await exists(db, 'verifications'))
  const ofEngine = readMigrations(engine)
  const inherited = isFromBeforeEngine ? ofEngine.filter(({ time }) => time <= lastTime(stored)) : []
  if (isFromBeforeEngine && inherited.length === 0)
    throw new Error(
      'The database is older than this release can migrate. Start release 1.0.0 once, which applies the missing migrations, and then this release.',
    )
  const states = [
    { known: ofEngine, applied: storedByEngine ?? inherited },
    { known: readMigrations(application), applied: stored },
  ]
  return {
    pending: states.flatMap(({ known, applied }) =>
      known.filter(({ time }) => time > lastTime(applied)).map(({ name }) => name),
    ),
    unknown: states.flatMap(({ known, applied = [] }) =>
      applied.filter(({ time }) => time > lastTime(known)),
    ),
    inherited,
  }
}

/** Returns the names of the tables that the migrations in a folder create. */
export const listTablesIn = (migrationsFolder: string) =>
  readMigrationFiles({ migrationsFolder }).flatMap(({ sql: statements }) =>
    statements.flatMap(
      (statement) => /^\s*create table (?:if not exists )?"(\w+)"/i.exec(statement)?.[1] ?? [],
    ),
  )

/** Returns the names of the engine's tables: the other tables belong to the application. */
export const listEngineTables = () => listTablesIn(engineFolder)

/** Returns the names of all migrations, in the order of their application. */
export const listMigrations = (migrationsFolder: string) =>
  journalsOf(migrationsFolder).flatMap((journal) => readMigrations(journal).map(({ name }) => name))

/** drizzle's migrator for the driver of the database. */
type Migrate = (config: Omit<Journal, 'prefix'>) => Promise<unknown>

/**
 * Applies the pending migrations with `migrate`. Returns the state before. If a migration of a later release is breaking,
 * throws an error.
 */
export async function applyMigrations(
  db: Pick<Database, 'select' | 'execute' | 'transaction'>,
  migrationsFolder: string,
  migrate: Migrate,
) {
  const state = await readMigrationState(db, migrationsFolder)
  const breaking = state.unknown.find(({ isBreaking }) => isBreaking)
  if (breaking)
    throw new Error(
      `The database has the migration ${breaking.name ?? ''} of a later release, and this release cannot use the database after it. Start the later release.`,
    )
  if (state.pending.length === 0 && state.inherited.length === 0) return state
  const journals = journalsOf(migrationsFolder)
  if (state.inherited.length > 0)
    await db.transaction((tx) => recordInherited(tx, journals[0], state.inherited))
  for (const journal of journals) {
    await migrate(journal)
    await describeApplied(db, journal)
  }
  return state
}

async function recordInherited(
  db: Pick<Database, 'execute'>,
  journal: Journal,
  inherited: readonly Migration[],
) {
  const table = tableOf(journal)
  const rows = sql.join(
    inherited.map(({ hash, time }) => sql`(${hash}, ${time}::bigint)`),
    sql`, `,
  )
  await db.execute(sql`create table ${table} (id serial primary key, hash text not null, created_at bigint)`)
  await db.execute(sql`insert into ${table} (hash, created_at) values ${rows}`)
}

/** Stores the names of the applied migrations, and which are breaking, for programs of other releases. */
async function describeApplied(db: Pick<Database, 'execute'>, journal: Journal) {
  const table = tableOf(journal)
  await db.execute(
    sql`alter table ${table} add column if not exists name text, add column if not exists breaking boolean not null default false`,
  )
  for (const { name, time, isBreaking } of readMigrations(journal))
    await db.execute(
      sql`update ${table} set name = ${name}, breaking = ${isBreaking} where created_at = ${time} and name is null`,
    )
}
