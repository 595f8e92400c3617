import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

import { start } from '../../db/connection/embedded.ts'

async function makeFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'tallystick-empty-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Starts a database and stops it. Returns the identifier that PostgreSQL gave it when it was created, and its tables. */
async function look(folder: string) {
  const { client, close } = await start(folder)
  const { rows } = await client.query(
    `select system_identifier::text as identifier, (select count(*)::int from information_schema.tables where table_schema = 'public') as tables from pg_control_system()`,
  )
  await close()
  return rows[0]
}

test('a new database is a copy of the empty one of the build, in a folder and in memory', async () => {
  const folder = await makeFolder()
  const inMemory = await look('memory:')
  expect(inMemory).toMatchObject({ identifier: expect.stringMatching(/^\d+$/) as string, tables: 0 })
  expect(await look(join(folder, 'db'))).toEqual(inMemory)
  expect(await look(join(folder, 'db'))).toEqual(inMemory)
})

test('a database that was not completely created is created again', async () => {
  const folder = await makeFolder()
  // The state after a process was killed while it created the database.
  await mkdir(join(folder, 'db.new/base'), { recursive: true })
  await writeFile(join(folder, 'db.new/PG_VERSION'), '18\n')

  expect(await look(join(folder, 'db'))).toMatchObject({ tables: 0 })
  expect((await readdir(folder)).sort()).toEqual(['db', 'db.lock'])
})

test('a database is created in an empty folder that exists', async () => {
  const folder = await makeFolder()
  await mkdir(join(folder, 'db'))
  expect(await look(join(folder, 'db'))).toMatchObject({ tables: 0 })
})
