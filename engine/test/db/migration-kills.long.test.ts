import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'

import { emptyDatabases, kindsOfDatabases, migrate, writeMigrations } from '../fixtures/migrations.ts'

const ROWS = 20_000
/** Each migration takes long enough for a signal to arrive in the middle. A repetition fails. */
const files = Object.fromEntries(
  Array.from({ length: 15 }, (_, index) => [
    `${index + 1}_table`,
    `create table table_${index} as select generate_series(1, ${ROWS}) as id`,
  ]),
)

/** Migrates in a process that is killed some time after its first migration. Returns whether the process ended by itself. */
async function migrateAndKill(url: string, folder: string, delay: number) {
  const words = ['--import', 'tsx', 'engine/test/fixtures/migrating.ts', url, folder]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  createInterface(child.stdout).once('line', () => setTimeout(() => child.kill('SIGKILL'), delay))
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== null) expect(code).toBe(0)
  return code === 0
}

test.each(kindsOfDatabases)(
  'a process that is killed while it migrates %s loses nothing, and the next one continues',
  { timeout: 300_000 },
  async (kind) => {
    const url = await emptyDatabases[kind]()
    const folder = writeMigrations(files)

    let kills = 0
    // Different delays, so that the signal arrives in different steps of a migration.
    while (!(await migrateAndKill(url, folder, (kills * 13) % 50))) kills++

    const { applied, tables } = await migrate(url, folder, async (db) => {
      for (const name of Object.keys(files)) {
        const rows = await db
          .select()
          .from(sql`drizzle.__drizzle_migrations`)
          .where(sql`name = ${name}`)
        expect(rows).toHaveLength(1)
      }
      const [last] = await db.select({ count: sql`count(*)`.mapWith(Number) }).from(sql`table_14`)
      expect(last).toEqual({ count: ROWS })
    })
    expect(kills).toBeGreaterThan(0)
    expect(applied).toEqual([])
    expect(tables).toHaveLength(15)
  },
)
