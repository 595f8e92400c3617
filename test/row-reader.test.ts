import { getTableColumns, sql } from 'drizzle-orm'
import { expect, test, vi } from 'vitest'

import { tasks } from '../db/tasks.ts'
import { createTallystick } from '../src/testing.ts'
import { newEmail, startService } from './service.ts'

const server = await startService()

test.each([
  ['a server', () => Promise.resolve({ ...server, close: () => Promise.resolve() })],
  ['the embedded database', () => createTallystick({ DATABASE_URL: 'memory:' })],
])('a prepared statement on %s returns the same rows as an unprepared statement', async (_, open) => {
  const tallystick = await open()
  const { db } = tallystick.services
  const ada = await tallystick.person(newEmail())
  await ada.tasks.create({ taskTitle: 'Title' })
  await ada.tasks.create({ taskTitle: 'Ünïcode 🙂', taskDesc: 'Text' })
  const decode = vi.spyOn(tasks.createdAt, 'mapFromDriverValue')
  const select = () =>
    db.select({ task: sql<string>`upper(${tasks.title})`.as('upper'), ...getTableColumns(tasks) }).from(tasks)

  const prepared = await select().prepare('row_reader').execute()

  expect(prepared).toHaveLength(2)
  expect(prepared).toEqual(await select())
  expect(prepared[0]?.createdAt).toBeInstanceOf(Date)
  expect(decode).toHaveBeenCalledTimes(4)
  decode.mockRestore()
  await tallystick.close()
})
