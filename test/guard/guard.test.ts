import { eq } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'

import type { Client } from '../../contract/client.ts'
import { users } from '../../engine/db/users.ts'
import { sessions } from '../../engine/db/sessions.ts'
import { createFetch } from '../../engine/test/fixtures/http.ts'
import { newEmail, startService, transports } from '../fixtures/service.ts'

const service = await startService()
const call = createFetch(service)
const { db } = service.services

/**
 * The service looks up the session for every request: a cached result of an earlier request never authorizes a request.
 */
describe.each(transports)('a caller with an earlier successful request, %s', (_, connect) => {
  /** Creates Ada with a task, a note and one session, and Bob with two notes. Bob shares one note with Ada. */
  async function createFixture() {
    const [email, other] = [newEmail(), newEmail()]
    const [cookie, theirs] = [await service.signIn(email), await service.signIn(other)]
    const [ada, bob] = [connect(service, { cookie }), connect(service, { cookie: theirs })]
    const task = await ada.tasks.create({ taskTitle: 'Hers' })
    for (const client of [ada, bob]) await client.notes.create({ title: 'Own', body: '' })
    const given = await bob.notes.create({ title: 'Given', body: '' })
    await bob.notes.share({ id: given.id, email, role: 'reader' })
    const [{ id: adaId }, { id: bobId }] = [await ada.account.get(), await bob.account.get()]
    // Sends successful requests with the valid session. If the service cached their caller, later requests of a test
    // would use the outdated entry, and the test would fail.
    for (const read of reads(task.id)) await read(ada)
    const [session] = await db.select().from(sessions).where(eq(sessions.userId, adaId))
    return { email, cookie, ada, bob, task, adaId, bobId, token: session?.token ?? '' }
  }

  const reads = (id: number): ((client: Client) => Promise<unknown>)[] => [
    ({ account }) => account.get(),
    ({ tasks }) => tasks.list({}),
    ({ tasks }) => tasks.get({ id }),
    ({ notes }) => notes.list({}),
    ({ legacyNotes }) => legacyNotes.list({}),
  ]

  const titles = async (client: Client) => (await client.notes.list({})).notes.map(({ title }) => title)

  test('is rejected after the end of the session', async () => {
    const { cookie, ada, task, token } = await createFixture()
    await ada.tasks.create({ taskTitle: 'One more' })

    await db.delete(sessions).where(eq(sessions.token, token))

    const answer = await call('GET', '/api/tasks?limit=1', undefined, { cookie })
    expect([answer.status, answer.headers.get('link')]).toEqual([401, null])
    for (const read of reads(task.id)) await expect(read(ada)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  })

  test('is rejected while the person is banned', async () => {
    const { ada, task, adaId } = await createFixture()

    await db.update(users).set({ banned: true }).where(eq(users.id, adaId))

    for (const read of reads(task.id)) await expect(read(ada)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  })

  test('sees the notes that are shared with the current address', async () => {
    const { ada, bob, adaId } = await createFixture()
    const address = newEmail()
    const { id } = await bob.notes.create({ title: 'Given to the new address', body: '' })
    await bob.notes.share({ id, email: address, role: 'reader' })

    await db.update(users).set({ email: address }).where(eq(users.id, adaId))

    expect(await titles(ada)).toEqual(['Given to the new address', 'Own'])
    expect(await ada.account.get()).toMatchObject({ email: address })
  })

  test('is identified as the current owner of the session', async () => {
    const { ada, bob, task, bobId, token } = await createFixture()

    await db.update(sessions).set({ userId: bobId }).where(eq(sessions.token, token))

    expect(await ada.account.get()).toEqual(await bob.account.get())
    expect(await ada.notes.list({})).toEqual(await bob.notes.list({}))
    expect(await ada.tasks.list({})).toEqual({ tasks: [], taskCount: 0 })
    await expect(ada.tasks.get({ id: task.id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('changes nothing after the end of the session', async () => {
    const { ada, task, adaId, token } = await createFixture()
    await db.delete(sessions).where(eq(sessions.token, token))

    for (const change of [
      () => ada.tasks.update({ id: task.id, title: 'Changed' }),
      () => ada.tasks.reset({}),
      () => ada.tasks.delete({ id: task.id }),
    ])
      await expect(change()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })

    const cookie = await service.signIn((await emailOf(adaId)) ?? '')
    expect((await connect(service, { cookie }).tasks.list({})).tasks).toMatchObject([{ title: 'Hers' }])
  })

  const emailOf = async (id: string) =>
    (await db.select({ email: users.email }).from(users).where(eq(users.id, id))).at(0)?.email
})
