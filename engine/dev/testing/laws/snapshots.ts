import { type SQL, sql } from 'drizzle-orm'

import type { Database } from 'tallystick/internal/db/connection/database'

/** The content of all tables, and the state of all sequences, at one time. */
export interface Snapshot {
  restore: () => Promise<void>
}

const rowsOf = <Row>(result: unknown) => [
  ...((Array.isArray(result) ? result : (result as { rows: unknown }).rows) as Iterable<Row>),
]

/** Executes a statement, and returns its rows. The drivers return different objects with rows. */
export const queryRows = async <Row>(db: Database, statement: SQL) => rowsOf<Row>(await db.execute(statement))

/** The schema with the copies of the tables. The schemas of migrations are not part of a snapshot. */
const COPIES = 'laws_snapshots'
const OTHER_SCHEMAS = sql`('information_schema', 'drizzle', ${COPIES})`

interface Table {
  /** The quoted name, with the schema. */
  name: string
  /** The quoted names of the columns that an insert can set. */
  columns: string
}

const listTables = (db: Database) =>
  queryRows<Table>(
    db,
    sql`
    select format('%I.%I', n.nspname, c.relname) as name,
      (select string_agg(format('%I', attname), ', ' order by attnum) from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname not in ${OTHER_SCHEMAS} and n.nspname not like 'pg\\_%'
    order by 1`,
  )

/** Lists statements that set the sequences to their present state. */
async function listSequences(db: Database) {
  const sequences = await queryRows<{ name: string }>(
    db,
    sql`select format('%I.%I', schemaname, sequencename) as name from pg_sequences
      where schemaname not in ${OTHER_SCHEMAS} and schemaname not like 'pg\\_%'`,
  )
  const states: string[] = []
  for (const { name } of sequences) {
    const state = sql`select last_value::text as last, is_called as called from ${sql.raw(name)}`
    const [row] = await queryRows<{ last: string; called: boolean }>(db, state)
    if (row) states.push(`perform setval('${name.replaceAll("'", "''")}', ${row.last}, ${row.called});`)
  }
  return states
}

/** PostgreSQL ends one of two transactions that wait for each other. */
const DEADLOCK = '40P01'

async function execute(db: Database, block: string) {
  const statement = sql.raw(`do $laws$ begin ${block} end $laws$`)
  for (let attempt = 1; ; attempt++)
    try {
      await db.execute(statement)
      return
    } catch (error) {
      const { code } = (error as { cause?: { code?: string } }).cause ?? {}
      if (code !== DEADLOCK || attempt === 5) throw error
    }
}

let snapshotCount = 0

/**
 * Copies the content of all tables. `restore` needs a superuser, as servers for tests have, because triggers and foreign
 * keys must not run.
 */
export async function takeSnapshot(db: Database): Promise<Snapshot> {
  const id = ++snapshotCount
  const tables = await listTables(db)
  // Only tables with rows get a copy. `restore` empties all tables, and fills these.
  const filled: { table: Table; copy: string }[] = []
  await execute(db, `create schema if not exists ${COPIES};`)
  for (const [index, table] of tables.entries()) {
    const [row] = await queryRows<{ some: boolean }>(
      db,
      sql`select exists (select from ${sql.raw(table.name)}) as some`,
    )
    if (row?.some) filled.push({ table, copy: `${COPIES}.copy_${id}_${index}` })
  }
  await execute(db, filled.map(({ table, copy }) => `create table ${copy} as table ${table.name};`).join(' '))
  const block = [
    `set local session_replication_role = replica;`,
    ...tables.map(({ name }) => `delete from ${name};`),
    ...filled.map(
      ({ table: { name, columns }, copy }) =>
        `insert into ${name} (${columns}) overriding system value select ${columns} from ${copy};`,
    ),
    ...(await listSequences(db)),
  ].join('\n')
  return { restore: () => execute(db, block) }
}
