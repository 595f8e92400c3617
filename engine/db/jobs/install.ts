import { createRequire } from 'node:module'

import { sql } from 'drizzle-orm'

import type { Database } from '../connection/database.ts'
import { dummyTable, requireRow } from '../statements.ts'
import { JOB_SCHEMA, queueRows, versionRows } from './tables.ts'

/** A step to the schema and the queues of the jobs, with its statements. */
export interface JobMigration {
  name: string
  text: string
}

/** Imports pg-boss, which only an application with jobs installs. */
export async function importPgBoss() {
  try {
    return (await import('pg-boss')).default
  } catch (error) {
    throw new Error(
      'The application declares jobs, which need pg-boss. Run: npm install --save-exact pg-boss@10.4.2',
      { cause: error },
    )
  }
}

/**
 * Lists the steps that the database lacks: the schema of pg-boss, and one step for each queue. Without a step, the role needs no
 * permission to create tables.
 */
export async function listPendingJobMigrations(
  db: Pick<Database, 'select'>,
  queues: readonly string[],
): Promise<JobMigration[]> {
  if (queues.length === 0) return []
  const existing = await listQueues(db)
  return [
    ...(await listSchemaMigrations(db)),
    ...queues.filter((name) => !existing.includes(name)).map(createQueue),
  ]
}

/** The names of the queues in the database, also of queues that the application no longer declares. */
export async function listQueues(db: Pick<Database, 'select'>) {
  if (!(await hasJobs(db))) return []
  return (await db.select({ name: queueRows.name }).from(queueRows)).map(({ name }) => name)
}

/** Returns whether the database has the schema of pg-boss. */
export async function hasJobs(db: Pick<Database, 'select'>) {
  const isInstalled = sql<boolean>`to_regclass(${`${JOB_SCHEMA}.version`}) is not null`
  return requireRow(await db.select({ isInstalled }).from(dummyTable)).isInstalled
}

async function listSchemaMigrations(db: Pick<Database, 'select'>): Promise<JobMigration[]> {
  const PgBoss = await importPgBoss()
  const { schema: wanted } = createRequire(import.meta.url)('pg-boss/version.json') as { schema: number }
  const name = `jobs/schema_${wanted}`
  if (!(await hasJobs(db)))
    return [{ name, text: `${inTransaction(PgBoss.getConstructionPlans(JOB_SCHEMA))};${INDEXES}` }]
  const { version } = requireRow(await db.select().from(versionRows))
  return version < wanted
    ? [{ name, text: inTransaction(PgBoss.getMigrationPlans(JOB_SCHEMA, String(version))) }]
    : []
}

/** The statements of pg-boss without BEGIN and COMMIT: the connection must run them in a transaction of its driver. */
const inTransaction = (text: string) =>
  text
    .trim()
    .replace(/^BEGIN;/, '')
    .replace(/COMMIT;$/, '')

/** For the search for lost jobs, which runs each second, and for the deletion of an account. */
const INDEXES = `
  create index job_active on ${JOB_SCHEMA}.job (started_on) where state = 'active';
  create index job_person on ${JOB_SCHEMA}.job ((data ->> 'person')) where data ->> 'person' is not null;`

/** `defineApp` accepts only names of letters and digits. */
const createQueue = (name: string): JobMigration => ({
  name: `jobs/queue_${name}`,
  text: `select ${JOB_SCHEMA}.create_queue('${name}', '{"policy":"standard"}')`,
})
