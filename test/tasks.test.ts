import { eq, sql } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'

import { users } from '../engine/db/accounts/users.ts'
import { taskRows, tasks } from '../db/tasks.ts'
import { describeTransports, startService } from './fixtures/service.ts'

const service = await startService()

describe('concurrent tasks.create', () => {
  test('creates the task of each caller, also if one statement cannot insert all tasks', async () => {
    const people = await Promise.all(Array.from({ length: 5 }, () => service.person()))
    // The service verifies the signature of a new cookie asynchronously, and caches verified cookies. These requests
    // fill the cache, so that the service handles the next requests at the same time.
    await Promise.all(people.map((person) => person.account.get()))
    const wanted = Array.from({ length: 40 }, (_, round) =>
      people.map((who, index) => ({ who, title: `Task ${round} of ${index}` })),
    ).flat()

    const added = await Promise.all(wanted.map(({ who, title }) => who.tasks.create({ taskTitle: title })))

    expect(added.map((task) => task.title)).toEqual(wanted.map(({ title }) => title))
    expect(new Set(added.map((task) => task.id)).size).toBe(200)
    for (const [index, person] of people.entries()) {
      const { tasks } = await person.tasks.list()
      expect(new Set(tasks)).toEqual(new Set(added.filter((_, at) => at % 5 === index)))
    }
  })

  test('fails for a deleted account only', async () => {
    const { db } = service.services
    await db.insert(users).values({ id: 'here', name: '', email: 'here@example.com' })

    const outcomes = await Promise.allSettled(
      ['here', 'gone', 'here', 'gone'].map((id) => taskRows.insert(db, { id, email: '' }, { title: id })),
    )

    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected'])
    expect(await taskRows.list(db, { id: 'here', email: '' }, { limit: 10 })).toHaveLength(2)
  })
})

describeTransports(service, ({ person, stranger }) => {
  describe('tasks.list', () => {
    test('returns the tasks, newest first, and their number', async () => {
      const ada = await person()
      const first = await ada.tasks.create({ taskTitle: 'One' })
      const second = await ada.tasks.create({ taskTitle: 'Two' })

      expect(await ada.tasks.list()).toEqual({ tasks: [second, first], taskCount: 2 })
    })

    test('is empty for a new account', async () => {
      const ada = await person()

      expect(await ada.tasks.list()).toEqual({ tasks: [], taskCount: 0 })
    })

    test('filters by status', async () => {
      const ada = await person()
      const { id } = await ada.tasks.create({ taskTitle: 'One' })
      await ada.tasks.create({ taskTitle: 'Two' })
      const done = await ada.tasks.update({ id, status: 'completed' })

      expect(await ada.tasks.list({ status: 'completed' })).toEqual({ tasks: [done], taskCount: 1 })
      expect(await ada.tasks.list({ status: 'in_progress' })).toEqual({ tasks: [], taskCount: 0 })
    })

    test('does not return tasks of other people', async () => {
      const [ada, bob] = [await person(), await person()]
      await ada.tasks.create({ taskTitle: 'Mine' })

      expect(await bob.tasks.list()).toEqual({ tasks: [], taskCount: 0 })
    })
  })

  describe('tasks.create', () => {
    test('returns the pending task, with times in seconds', async () => {
      const ada = await person()
      const { id } = await ada.account.get()
      const now = Math.floor(Date.now() / 1000)

      const task = await ada.tasks.create({ taskTitle: 'Write', taskDesc: 'One page' })

      expect(task).toEqual({
        id: expect.any(Number),
        userId: id,
        title: 'Write',
        description: 'One page',
        status: 'pending',
        createdAt: expect.any(Number),
        updatedAt: task.createdAt,
      })
      expect(Math.abs(task.createdAt - now)).toBeLessThan(30)
    })

    test('stores no description by default', async () => {
      const ada = await person()

      expect(await ada.tasks.create({ taskTitle: 'Write' })).toMatchObject({ description: null })
    })

    test('rejects an empty title', async () => {
      const ada = await person()

      await expect(ada.tasks.create({ taskTitle: '' })).rejects.toMatchObject({
        code: 'BAD_REQUEST',
        defined: false,
        data: { issues: [{ path: 'taskTitle', message: 'Must have at least 1 character' }] },
      })
    })
  })

  describe('tasks.get', () => {
    test('returns a task of the caller', async () => {
      const ada = await person()
      const task = await ada.tasks.create({ taskTitle: 'Write' })

      expect(await ada.tasks.get({ id: task.id })).toEqual(task)
    })

    test.each([0, 987_654_321, 2 ** 53])('does not find %d', async (id) => {
      const ada = await person()

      await expect(ada.tasks.get({ id })).rejects.toMatchObject({
        code: 'NOT_FOUND',
        defined: true,
        message: 'Task not found',
      })
    })
  })

  describe('tasks.update', () => {
    test('changes only the given fields', async () => {
      const ada = await person()
      const task = await ada.tasks.create({ taskTitle: 'Write', taskDesc: 'One page' })

      const changed = await ada.tasks.update({ id: task.id, status: 'completed' })

      expect(changed).toEqual({ ...task, status: 'completed', updatedAt: expect.any(Number) })
    })

    test('clears the description with null', async () => {
      const ada = await person()
      const { id } = await ada.tasks.create({ taskTitle: 'Write', taskDesc: 'One page' })

      expect(await ada.tasks.update({ id, description: null })).toMatchObject({ description: null })
    })

    test('changes updatedAt only with the content', async () => {
      const ada = await person()
      const { id } = await ada.tasks.create({ taskTitle: 'Write' })
      // `updatedAt` of a response is in seconds.
      const updatedAt = sql`${tasks.updatedAt} - interval '1 minute'`
      await service.services.db.update(tasks).set({ updatedAt }).where(eq(tasks.id, id))
      const task = await ada.tasks.get({ id })

      const untouched = await ada.tasks.update({ id: task.id })
      const same = await ada.tasks.update({ id: task.id, title: 'Write', status: 'pending' })
      const changed = await ada.tasks.update({ id: task.id, title: 'Rewrite' })

      expect(untouched).toEqual(task)
      expect(same).toEqual(task)
      expect(changed.updatedAt).toBeGreaterThan(task.updatedAt)
    })

    test('does not find another person’s task', async () => {
      const [ada, bob] = [await person(), await person()]
      const task = await ada.tasks.create({ taskTitle: 'Write' })

      await expect(bob.tasks.update({ id: task.id, title: 'Mine' })).rejects.toMatchObject({
        code: 'NOT_FOUND',
      })

      expect(await ada.tasks.get({ id: task.id })).toEqual(task)
    })
  })

  describe('tasks.delete', () => {
    test('deletes one task', async () => {
      const ada = await person()
      const { id } = await ada.tasks.create({ taskTitle: 'Write' })
      const other = await ada.tasks.create({ taskTitle: 'Read' })

      expect(await ada.tasks.delete({ id })).toEqual({ success: true })

      expect(await ada.tasks.list()).toEqual({ tasks: [other], taskCount: 1 })
    })

    test('returns the same for absent tasks and tasks of other people, and deletes nothing', async () => {
      const [ada, bob] = [await person(), await person()]
      const task = await ada.tasks.create({ taskTitle: 'Write' })

      expect(await bob.tasks.delete({ id: task.id })).toEqual({ success: true })
      expect(await bob.tasks.delete({ id: 2 ** 53 })).toEqual({ success: true })

      expect(await ada.tasks.get({ id: task.id })).toEqual(task)
    })
  })

  describe('tasks.reset', () => {
    test('deletes all tasks of the caller, and no others', async () => {
      const [ada, bob] = [await person(), await person()]
      await ada.tasks.create({ taskTitle: 'Mine' })
      const kept = await bob.tasks.create({ taskTitle: 'His' })

      expect(await ada.tasks.reset()).toEqual({ taskCount: 0 })

      expect(await ada.tasks.list()).toEqual({ tasks: [], taskCount: 0 })
      expect(await bob.tasks.list()).toEqual({ tasks: [kept], taskCount: 1 })
    })
  })

  test('authentication is checked first', async () => {
    await expect(stranger.tasks.update({ id: 1, title: '' })).rejects.toMatchObject({
      code: 'UNAUTHORIZED',
      defined: true,
    })
  })
})
