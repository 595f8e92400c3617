import { eq, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate } from 'drizzle-orm/postgres-js/migrator'
import * as fc from 'fast-check'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { expect, onTestFinished, test } from 'vitest'

import { users } from '../../engine/db/accounts/users.ts'
import type { Database } from '../../engine/db/connection/database.ts'
import { open } from '../../db/index.ts'
import { noteRows } from '../../db/notes.ts'
import * as query from '../../db/tasks.ts'
import { createDatabase } from '../fixtures/database.ts'
import { startService } from '../fixtures/service.ts'

const { services } = await startService()

const readCounts = (db: Database) => db.select().from(query.taskCounts).orderBy(query.taskCounts.userId)

const numberOf = (status: (typeof query.tasks.$inferSelect)['status']) =>
  sql<number>`count(*) filter (where ${query.tasks.status} = ${status})::int`

const countTasks = (db: Database) =>
  db
    .select({
      userId: query.tasks.userId,
      pending: numberOf('pending'),
      inProgress: numberOf('in_progress'),
      completed: numberOf('completed'),
    })
    .from(query.tasks)
    .groupBy(query.tasks.userId)
    .orderBy(query.tasks.userId)

const PEOPLE = ['ada', 'bob', 'eve']

const changes = fc.record({
  userId: fc.constantFrom(...PEOPLE),
  kind: fc.constantFrom('insert', 'insert', 'insert', 'insert', 'update', 'update', 'remove', 'clear'),
  status: fc.constantFrom('pending', 'in_progress', 'completed'),
  index: fc.nat(20),
})

test('the counts equal the number of tasks after concurrent changes', async () => {
  const { db } = services
  await db.insert(users).values(PEOPLE.map((id) => ({ id, name: '', email: `${id}@example.com` })))
  const { taskRows } = query
  const personOf = (id: string) => ({ id, email: `${id}@example.com` })
  const apply = async ({ userId, kind, status, index }: (typeof sequence)[number]) => {
    const person = personOf(userId)
    if (kind === 'insert') return taskRows.insert(db, person, { title: status })
    if (kind === 'clear') return index === 0 ? taskRows.clear(db, person) : undefined
    const task = (await taskRows.list(db, person, { limit: 20 })).at(index)
    if (!task) return
    return kind === 'update'
      ? taskRows.update(db, person, task.id, { status })
      : taskRows.remove(db, person, task.id)
  }
  const sequence = fc.sample(changes, 600)
  for (let start = 0; start < sequence.length; start += 40)
    await Promise.all(sequence.slice(start, start + 40).map(apply))

  await taskRows.insert(db, personOf('ada'), { title: 'Last' })

  const counts = await readCounts(db)
  expect(counts.filter(({ pending, inProgress, completed }) => pending + inProgress + completed > 0)).toEqual(
    await countTasks(db),
  )
  const [ada] = counts
  expect(ada?.userId).toBe('ada')
  expect(await taskRows.total(db, personOf('ada'), { status: 'in_progress' })).toBe(ada?.inProgress)

  await db.delete(users).where(eq(users.id, 'ada'))
  expect(await readCounts(db)).toEqual(counts.filter(({ userId }) => userId !== 'ada'))
})

test('a migration counts the tasks of an earlier release, and sorts its shared notes', async () => {
  const database = await createDatabase('template1')
  onTestFinished(() => database.drop())
  const client = postgres(database.url, { max: 1, onnotice: () => undefined })
  await migrate(drizzle(client), {
    migrationsFolder: 'engine/db/migrations',
    migrationsTable: '__tallystick_migrations',
  })
  await migrate(drizzle(client), { migrationsFolder: migrationsBefore('0002_growth') })
  await client`insert into users (id, name, email) values ('ada', '', 'ada@example.com'), ('bob', '', 'bob@example.com')`
  await client`insert into tasks (user_id, title, status) values ('ada', '1', 'pending'), ('ada', '2', 'pending'), ('bob', '3', 'completed')`
  // The note with the lower id is the newer note.
  await client`
    insert into notes (uuid, user_id, title, body, created_at)
    values (gen_random_uuid(), 'ada', 'newer', '', '2026-02-01'), (gen_random_uuid(), 'ada', 'older', '', '2026-01-01')`
  await client`insert into note_shares (note_id, email, role) select id, 'bob@example.com', 'reader' from notes`
  await client.end()

  const { db, close } = await open(database.url)
  onTestFinished(close)

  expect(await readCounts(db)).toEqual([
    { userId: 'ada', pending: 2, inProgress: 0, completed: 0 },
    { userId: 'bob', pending: 0, inProgress: 0, completed: 1 },
  ])
  const titles = async (limit: number) =>
    (await noteRows.list(db, { id: 'bob', email: 'bob@example.com' }, { limit })).map(({ title }) => title)
  expect(await titles(10)).toEqual(['newer', 'older'])
  expect(await titles(1)).toEqual(['newer'])
})

/** Copies the migrations before a migration to a temporary folder. */
function migrationsBefore(tag: string) {
  const folder = mkdtempSync(join(tmpdir(), 'tallystick-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true })
  })
  cpSync('db/migrations', folder, { recursive: true })
  const file = join(folder, 'meta/_journal.json')
  const journal = JSON.parse(readFileSync(file, 'utf8')) as { entries: { tag: string }[] }
  const entries = journal.entries.filter((entry) => entry.tag < tag)
  writeFileSync(file, JSON.stringify({ ...journal, entries }))
  return folder
}
