import { sql } from 'drizzle-orm'
import { PGlite } from '@electric-sql/pglite'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { describe, expect, onTestFinished, test } from 'vitest'

import { migrationsFolder } from '../../db/index.ts'
import { noteRows } from '../../db/notes.ts'
import * as tasks from '../../db/tasks.ts'
import type { Database } from '../../engine/db/connection/database.ts'
import type { MigrationState } from '../../engine/db/migrate/migrations.ts'
import { open } from '../../engine/db/connection/open.ts'
import { createDatabase } from '../fixtures/database.ts'

/** Functions that create a database, run statements in the database, and return its address. */
const kinds = {
  'an embedded database': async (statements: string) => {
    const folder = await mkdtemp(join(tmpdir(), 'tallystick-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const client = await PGlite.create(join(folder, 'db'))
    await client.exec(statements)
    await client.close()
    return join(folder, 'db')
  },
  'a server': async (statements: string) => {
    const { url, drop } = await createDatabase('template1')
    onTestFinished(drop)
    const client = postgres(url, { max: 1, onnotice: () => undefined })
    // The program that applied the migrations had this search path.
    await client.unsafe(`set search_path = public; ${statements}`)
    await client.end()
    return url
  },
}
const names = Object.keys(kinds) as (keyof typeof kinds)[]

const readRelease = (name: string) => readFile(`test/db/releases/${name}.sql`, 'utf8')

/** Opens a database as the service does. Closes the database after the test, unless the test has closed it. */
async function migrate(url: string) {
  const states: MigrationState[] = []
  const { db, close } = await open(url, { migrationsFolder, onMigrated: (state) => states.push(state) })
  let isOpen = true
  const closeOnce = async () => {
    if (isOpen) await close()
    isOpen = false
  }
  onTestFinished(closeOnce)
  return { db, state: states[0], close: closeOnce }
}

/** Describes tables, constraints, indexes, functions and triggers. */
async function schemaOf(db: Database) {
  const queries = [
    `select concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default, identity_generation, datetime_precision) from information_schema.columns where table_schema = 'public'`,
    `select concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) from pg_constraint where connamespace = 'public'::regnamespace`,
    `select indexdef from pg_indexes where schemaname = 'public'`,
    `select concat_ws(' ', proname, prosrc, proconfig) from pg_proc where pronamespace = 'public'::regnamespace`,
    `select concat_ws(' ', tgname, pg_get_triggerdef(oid)) from pg_trigger where not tgisinternal`,
  ]
  const descriptions: string[] = []
  for (const query of queries) {
    const result: unknown = await db.execute(sql.raw(`select d from (${query}) as t (d)`))
    const rows = (Array.isArray(result) ? result : (result as { rows: unknown[] }).rows) as { d: string }[]
    descriptions.push(...rows.map(({ d }) => d))
  }
  return descriptions.sort()
}

// A processor with other work needs longer than the default for an embedded database.
describe.each(names)('on %s', { timeout: 300_000 }, (kind) => {
  test.each([
    ['1.0.0', 7],
    ['before-engine', 1],
  ])('the migrations keep the data of a database of %s', async (release, count) => {
    const url = await kinds[kind](await readRelease(release))
    const { db: fresh } = await migrate(await kinds[kind](''))

    const { db, state, close } = await migrate(url)

    expect(state?.pending).toHaveLength(count)
    expect(await schemaOf(db)).toEqual(await schemaOf(fresh))
    const ada = { id: 'ada', email: 'ada@example.com' }
    expect((await tasks.taskRows.list(db, ada, { limit: 10 })).map(({ title }) => title).sort()).toEqual([
      'First',
      'Second',
    ])
    expect(await tasks.taskRows.total(db, ada, { status: 'completed' })).toBe(1)
    const bob = { id: 'bob', email: 'bob@example.com' }
    for (const viewer of [ada, bob])
      expect((await noteRows.list(db, viewer, { limit: 10 })).map(({ body }) => body)).toEqual(['Text'])
    await close()
    expect((await migrate(url)).state?.pending).toEqual([])
  })

  test('a database from before 1.0.0 is refused, and is not changed', async () => {
    const older = `${await readRelease('1.0.0')}
      delete from drizzle.__drizzle_migrations where created_at = (select max(created_at) from drizzle.__drizzle_migrations);`
    const url = await kinds[kind](older)

    for (let attempt = 0; attempt < 2; attempt++)
      await expect(migrate(url)).rejects.toThrow('Start release 1.0.0 once')
  })

  test('a migration of another release is reported, and refuses the start only if it is breaking', async () => {
    const url = await kinds[kind]('')
    const { db, close } = await migrate(url)
    await db.execute(
      sql`insert into drizzle.__drizzle_migrations (hash, created_at, name) values ('x', 9999999999999, '9999_later')`,
    )
    await close()
    const second = await migrate(url)
    await second.db.execute(
      sql`update drizzle.__drizzle_migrations set breaking = true where name = '9999_later'`,
    )
    await second.close()

    expect(second.state?.unknown.map(({ name }) => name)).toEqual(['9999_later'])
    await expect(migrate(url)).rejects.toThrow(
      /^The database has the migration 9999_later of another release/,
    )
  })
})

test('the tables of another program that uses drizzle are no older release', async () => {
  const url = await kinds['an embedded database'](`
    create table books (id int);
    create schema drizzle;
    create table drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint);
    insert into drizzle.__drizzle_migrations (hash, created_at) values ('x', 1);`)

  expect((await migrate(url)).state?.pending[0]).toBe('tallystick/0000_baseline')
})
