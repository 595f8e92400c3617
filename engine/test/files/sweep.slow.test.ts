import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'

import { sql } from 'drizzle-orm'
import { bigint, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { createdAt, rows, userIdColumn } from 'tallystick/db'
import { describe, expect, test } from 'vitest'

import { type Files, openFiles, sweepFiles } from '../../http/files/index.ts'
import { startEndpoints } from '../fixtures/endpoints-app.ts'
import { BUCKET, createFolder, startS3 } from './s3.ts'

const s3 = await startS3()
const DAY = 86_400_000
const inHours = (hours: number) => new Date(Date.now() + (hours / 24) * DAY)
const streamOf = (text: string) => new Blob([text]).stream() as ReadableStream<Uint8Array>

const photos = pgTable('photos', { key: uuid() })
const scans = pgTable('scans', { key: text() })

async function keysOf(files: Files) {
  const keys: string[] = []
  for await (const { key } of files.list()) keys.push(key)
  return keys.sort()
}

const databases = { 'a server': {}, 'the embedded database': { DATABASE_URL: 'memory:' } }
const storages = {
  'a folder': () => openFiles(createdFolder),
  'a bucket': () => openFiles(`s3://${BUCKET}/${randomUUID()}`, s3.options),
}
const createdFolder = createFolder()

describe.each(Object.entries(databases))('with %s', async (_, environment) => {
  const { services } = await startEndpoints({}, environment)
  const { db } = services
  await db.execute(sql`create table photos (key uuid)`)
  await db.execute(sql`create table scans (key text)`)

  test.each(Object.entries(storages))(
    'a sweep of %s keeps files with a row, and new ones',
    async (_, openStorage) => {
      const files = await openStorage()
      const [photo, scan, lost] = await Promise.all(['a', 'b', 'c'].map((body) => files.put(streamOf(body))))
      const [photoKey = '', scanKey = '', lostKey = ''] = [photo?.key, scan?.key, lost?.key]
      await db.insert(photos).values([{ key: photoKey }, { key: null }])
      await db.insert(scans).values({ key: scanKey })
      const columns = [photos.key, scans.key]

      expect(await sweepFiles(files, db, columns, { now: inHours(23) })).toBe(0)
      expect(await keysOf(files)).toEqual([photoKey, scanKey, lostKey].sort())
      expect(await sweepFiles(files, db, columns, { now: inHours(25) })).toBe(1)
      expect(await keysOf(files)).toEqual([photoKey, scanKey].sort())
      await db.delete(scans)
      expect(await sweepFiles(files, db, columns, { now: inHours(25) })).toBe(1)
      expect(await keysOf(files)).toEqual([photoKey])
      await db.delete(photos)
      await sweepFiles(files, db, columns, { now: inHours(25) })
    },
  )

  test('a list shows columns with the names of a file, not the numbers of the engine', async () => {
    const parts = pgTable('parts', {
      id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
      userId: userIdColumn(),
      title: text().notNull(),
      size: integer(),
      total: integer(),
      position: integer(),
      match: integer(),
      createdAt,
    })
    await db.execute(
      sql`create table parts (id bigint primary key generated always as identity, user_id text not null, title text not null,
        size integer, total integer, position integer, match integer, created_at timestamptz not null default now())`,
    )
    const create = ['title', 'size', 'total', 'position', 'match'] as const
    const partRows = rows(parts, { create, search: ['title'] })
    const person = { id: 'ada', email: 'ada@example.com' }
    const part = { title: 'A lamp', size: 70_000, total: 5, position: 9, match: 7 }
    await partRows.insert(db, person, part)

    const all = await partRows.list(db, person, { limit: 10 })
    const found = await partRows.list(db, person, { limit: 10 }, { q: 'lamp' })

    expect([all, found]).toMatchObject([[part], [part]])
  })
})

test('a process that is killed during an upload leaves no file, and the sweep removes the rest', async () => {
  const { services } = await startEndpoints({}, { DATABASE_URL: 'memory:' })
  await services.db.execute(sql`create table photos (key uuid)`)
  const folder = createFolder()
  const child = spawn(process.execPath, ['--import', 'tsx', 'engine/test/files/upload-process.ts', folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
  const files = await openFiles(folder)
  const [key = '', ...others] = await keysOf(files)

  expect(await readdir(folder)).toEqual([`${key}.partial`])
  expect([others, await files.get(key)]).toEqual([[], undefined])
  expect(await sweepFiles(files, services.db, [photos.key], { now: inHours(25) })).toBe(1)
  expect(await readdir(folder)).toEqual([])
})
