import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import { describe, expect, onTestFinished, test } from 'vitest'

import { inspect } from '../../db/inspection.ts'
import { readMigrations } from '../../db/migrate/migration-files.ts'
import { emptyDatabases, kindsOfDatabases, migrate, writeMigrations } from '../fixtures/migrations.ts'

const first = { '1_first': 'create table first (id int)' }
const older = { '2_older': 'create table older (\n  id int\n)\n' }
const younger = { '3_younger': 'create table younger (id int)' }

const hashesIn = (migrationsFolder: string) =>
  readMigrations({ prefix: '', migrationsFolder, migrationsTable: '' })

/** Waits for the rejection of a promise. Returns the message. */
const problemOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no error',
    (error: unknown) => (error as Error).message,
  )

describe.each(kindsOfDatabases)('on %s', { timeout: 180_000 }, (kind) => {
  test('a migration of a branch that is merged after a younger one is applied', async () => {
    const url = await emptyDatabases[kind]()
    await migrate(url, writeMigrations({ ...first, ...younger }))
    const merged = writeMigrations({ ...first, ...older, ...younger })
    const before = await inspect(url, { migrationsFolder: merged })

    const { applied, tables } = await migrate(url, merged)

    expect(before.pending).toEqual(['2_older'])
    expect(applied).toEqual(['2_older'])
    expect(tables).toEqual(['first', 'older', 'younger'])
    expect((await inspect(url, { migrationsFolder: merged })).pending).toEqual([])
  })

  test('migrations are applied in the order of the journal', async () => {
    const { applied } = await migrate(
      await emptyDatabases[kind](),
      writeMigrations({ '3_table': 'create table a (id int)', '2_column': 'alter table a add b int' }),
    )

    expect(applied).toEqual(['3_table', '2_column'])
  })

  test('a database of a release that compared times continues', async () => {
    const url = await emptyDatabases[kind]()
    const folder = writeMigrations({ ...first, ...older })
    await migrate(url, folder, async (db) => {
      // A release that ended before it stored the names, and the hash of a file with the line ends of Windows.
      const hashWithCrLf = hashesIn(folder)[1]?.hashWithCrLf
      await db.execute(sql`update drizzle.__drizzle_migrations set name = null where name = '1_first'`)
      await db.execute(
        sql`update drizzle.__drizzle_migrations set hash = ${hashWithCrLf} where name = '2_older'`,
      )
    })

    const { state, applied } = await migrate(url, writeMigrations({ ...first, ...older, ...younger }))

    expect(applied).toEqual(['3_younger'])
    expect(state).toMatchObject({ pending: ['3_younger'], changed: [], unknown: [] })
  })

  test('an applied migration whose file has changed is named, and not applied again', async () => {
    const url = await emptyDatabases[kind]()
    await migrate(url, writeMigrations(first))
    const changed = writeMigrations({ '1_first': 'create table other (id int)' })
    const renamed = writeMigrations({ '1_renamed': first['1_first'] })

    expect((await migrate(url, changed)).state).toMatchObject({ pending: [], changed: ['1_first'] })
    expect((await migrate(url, renamed)).state).toMatchObject({ pending: [], changed: [], unknown: [] })
    expect((await migrate(url, writeMigrations({ '1_first': `${first['1_first']}\r\n` }))).tables).toEqual([
      'first',
    ])
  })

  test('a migration of another release is allowed unless it is breaking', async () => {
    const url = await emptyDatabases[kind]()
    await migrate(url, writeMigrations({ ...first, ...older, ...younger }))
    const previous = writeMigrations({ ...first, ...younger })

    expect((await migrate(url, previous)).state?.unknown.map(({ name }) => name)).toEqual(['2_older'])
    await migrate(url, writeMigrations({ '4_drop': '-- breaking\ndrop table older' }))
    expect(await problemOf(migrate(url, previous))).toMatch(
      /^The database has the migration 4_drop of another/,
    )
  })

  test('a value of an enum that one migration adds can be used in the next', async () => {
    const { tables, applied } = await migrate(
      await emptyDatabases[kind](),
      writeMigrations({
        '1_enum': `create type color as enum ('red')`,
        '2_add': `alter type color add value 'blue'`,
        '3_use': `create table boxes (color color not null default 'blue'); insert into boxes default values`,
      }),
    )

    expect(tables).toEqual(['boxes'])
    expect(applied).toHaveLength(3)
  })

  test('a failed migration is named with its statement, and changes nothing, and the earlier ones stay', async () => {
    const url = await emptyDatabases[kind]()
    const failing = { '2_fails': 'create table b (id int);\n--> statement-breakpoint\n-- Why.\nselect\n  x' }
    const problem = await problemOf(migrate(url, writeMigrations({ ...first, ...failing, ...younger })))

    const { applied, tables } = await migrate(url, writeMigrations({ ...first, ...younger }))

    expect(problem).toBe('Migration 2_fails, line 5: column "x" does not exist\n  select\n    x')
    expect(applied).toEqual(['3_younger'])
    expect(tables).toEqual(['first', 'younger'])
  })

  test('an error about an existing table names the command that deletes a database of development', async () => {
    const url = await emptyDatabases[kind]()
    await migrate(url, writeMigrations(first))

    const problem = await problemOf(
      migrate(url, writeMigrations({ '9_squashed': `${first['1_first']};${older['2_older']}` })),
    )

    expect(problem).toMatch(/^Migration 9_squashed, line 1: relation "first" already exists\n/)
    expect(problem).toMatch(/tallystick reset$/)
  })

  test('an index is built without a transaction, again if an attempt has left an invalid index', async () => {
    const url = await emptyDatabases[kind]()
    const rows = { '1_rows': 'create table rows (id int); insert into rows values (1), (1)' }
    const index = {
      '2_index': '-- no transaction\ncreate unique index concurrently "rows_id" on "rows" using btree ("id")',
    }
    const folder = writeMigrations({ ...rows, ...index })
    const problem = await problemOf(migrate(url, folder))
    await migrate(url, writeMigrations(rows), (db) => db.execute(sql`delete from rows`))

    const { applied } = await migrate(url, folder, async (db) => {
      await db.execute(sql`delete from drizzle.__drizzle_migrations where name = '2_index'`)
    })
    // As if the process had died before it recorded the migration.
    const repeated = await migrate(url, folder, async (db) => {
      const [built] = await db
        .select({ valid: sql`indisvalid` })
        .from(sql`pg_index`)
        .where(sql`indexrelid = 'rows_id'::regclass`)
      expect(built).toEqual({ valid: true })
    })

    expect(problem).toMatch(/^Migration 2_index, line 2: could not create unique index "rows_id"\n {2}create/)
    expect(applied).toEqual(['2_index'])
    expect(repeated.applied).toEqual(['2_index'])
  })

  test('a migration without a transaction has one statement', async () => {
    const url = await emptyDatabases[kind]()
    const two = '-- no transaction\nselect 1\n--> statement-breakpoint\nselect 2'

    expect(await problemOf(migrate(url, writeMigrations({ '1_two': two })))).toMatch(
      /^Migration 1_two: .* exactly one statement/,
    )
  })
})

test('a process that waits for another one does not block an index that is built concurrently', async () => {
  const url = await emptyDatabases['a server']()
  const rows = { '1_rows': 'create table rows (id int)' }
  await migrate(url, writeMigrations(rows))
  const client = postgres(url, { max: 1 })
  onTestFinished(() => client.end())
  // The key of the lock must not change between releases.
  await client`select pg_advisory_lock(7141925)`
  const folder = writeMigrations({
    ...rows,
    '2_index': '-- no transaction\ncreate index concurrently rows_id on rows (id)',
  })
  const waiting = [migrate(url, folder), migrate(url, folder)]
  const waits = () =>
    client`select from pg_stat_activity where datname = current_database() and query like '%pg_try_advisory_lock%' and pid <> pg_backend_pid()`
  await expect.poll(async () => (await waits()).length).toBe(2)

  await client`create index concurrently other on rows (id)`
  await client`select pg_advisory_unlock(7141925)`

  expect((await Promise.all(waiting)).flatMap(({ applied }) => applied)).toEqual(['2_index'])
})
