import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { safe } from '../contract/client.ts'
import { type Connection, open } from '../db/index.ts'
import { createTallystick, type Tallystick } from '../src/testing.ts'
import { databaseUrl } from './postgres.ts'
import { startService } from './service.ts'

const service = await startService()

const input = { taskTitle: 'Write' }
const note = { title: 'Plan', body: '' }

/** What the rest of the suite relies on, on both drivers: they differ in more than speed. */
describe.each([
  ['PostgreSQL', service.databaseUrl],
  ['PGlite', 'memory:'],
])('on %s', (_, url) => {
  let tallystick: Tallystick

  beforeAll(async () => {
    tallystick = await createTallystick({ DATABASE_URL: url })
  })

  afterAll(() => tallystick.close())

  test('big numbers stay exact, and the counter stops at its limits', async () => {
    const { counter } = tallystick.stranger
    await counter.set({ inputValue: Number.MAX_SAFE_INTEGER - 1 })

    expect(await counter.increment()).toEqual({ count: Number.MAX_SAFE_INTEGER })
    await expect(counter.increment()).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await counter.get()).toEqual({ count: Number.MAX_SAFE_INTEGER })
  })

  test('parallel increments are all distinct', async () => {
    const { counter } = tallystick.stranger
    await counter.reset()

    const steps = await Promise.all(Array.from({ length: 100 }, () => counter.increment()))

    expect(new Set(steps.map(({ count }) => count)).size).toBe(100)
    expect(await counter.get()).toEqual({ count: 100 })
  })

  test('moments, nulls and partial changes come back as they went', async () => {
    const ada = await tallystick.person()
    const task = await ada.tasks.create({ taskTitle: 'Write 📜 "it"', taskDesc: 'line\r\nline' })

    expect(await ada.tasks.get({ id: task.id })).toEqual(task)
    expect(await ada.tasks.update({ id: task.id, description: null })).toMatchObject({
      title: 'Write 📜 "it"',
      description: null,
    })
    expect(Math.abs(task.createdAt - Date.now() / 1000)).toBeLessThan(30)
  })

  test('what is sent again under its key gets the first answer', async () => {
    const ada = await tallystick.person()
    const key = { context: { headers: { 'idempotency-key': 'key' } } }

    const tasks = await Promise.all(Array.from({ length: 10 }, () => safe(ada.tasks.create(input, key))))
    const first = await ada.tasks.create(input, key)

    expect(await ada.tasks.list()).toEqual({ tasks: [first], taskCount: 1 })
    for (const { data } of tasks) expect([first, undefined]).toContainEqual(data)
    await expect(ada.notes.create(note, key)).rejects.toMatchObject({ code: 'KEY_REUSED' })
  })

  test('what was seen by many is changed by one', async () => {
    const ada = await tallystick.person()
    const { id } = await ada.notes.create(note)
    const seen = { context: { headers: { 'if-match': '"1.0"' } } }

    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () => safe(ada.notes.update({ id, ...note, body: 'new' }, seen))),
    )

    expect(outcomes.filter(({ isSuccess }) => isSuccess)).toHaveLength(1)
  })

  test('an account is exported whole, and deleted', async () => {
    const ada = await tallystick.person()
    const { email } = await ada.account.get()
    const task = await ada.tasks.create({ taskTitle: 'Write' })

    expect(await ada.account.export()).toMatchObject({ account: { email }, tasks: [task], notes: [] })
    expect(await ada.account.delete({ email })).toEqual({ success: true })
    await expect(ada.account.get()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  })

  test('sharing twice keeps one row, in a transaction, and goes with the note', async () => {
    const [ada, bob] = [await tallystick.person(), await tallystick.person()]
    const { email } = await bob.account.get()
    const { id } = await ada.notes.create({ title: 'Shared', body: '' })
    await ada.notes.share({ id, email, role: 'reader' })

    expect(await ada.notes.share({ id, email, role: 'editor' })).toMatchObject({ sharedWith: 1 })
    expect(await bob.notes.update({ id, title: 'Edited', body: '' })).toMatchObject({
      mine: false,
      sharedWith: 0,
    })
    expect(await ada.notes.delete({ id })).toEqual({ id })
    expect((await bob.notes.list()).notes).toEqual([])
  })

  test('both forms of notes are one store', async () => {
    const ada = await tallystick.person()
    const { id } = await ada.legacyNotes.create({ newNote: 'First line\nand more' })

    expect((await ada.notes.list()).notes).toMatchObject([
      { title: 'First line', body: 'First line\nand more' },
    ])
    expect(await ada.legacyNotes.delete({ id })).toEqual({ success: true })
    expect((await ada.notes.list()).notes).toEqual([])
  })
})

describe('open', () => {
  test('lets many starters migrate one empty database at once', async () => {
    const { url } = inject('postgres')
    const name = `tallystick_empty_${process.pid}`
    const admin = postgres(url, { max: 1, onnotice: () => undefined })
    await admin`create database ${admin(name)}`

    const opened: Connection[] = await Promise.all(
      Array.from({ length: 4 }, () => open(databaseUrl(url, name))),
    )

    expect(opened).toHaveLength(4)
    for (const { close } of opened) await close()
    await admin`drop database ${admin(name)}`
    await admin.end()
  })
})
