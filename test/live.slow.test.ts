import { consumeEventIterator } from '@orpc/client'
import { sql } from 'drizzle-orm'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test, vi } from 'vitest'

import type { Client, Outputs } from '../contract/client.ts'
import { createTallystick } from '../src/testing.ts'
import { PATIENCE } from '../engine/test/fixtures/patience.ts'
import { newEmail, startService } from './fixtures/service.ts'

const service = await startService()
const other = await createTallystick({ DATABASE_URL: service.databaseUrl, AUTH_SECRET: 'x'.repeat(40) })
afterAll(() => other.close())

/** Watches topics, and collects the updates. */
async function watch(client: Client, ...input: Parameters<Client['live']['watch']>) {
  const updates: { topic: string; state: unknown }[] = []
  let error: unknown
  let isDone = false
  const stop = consumeEventIterator(client.live.watch(...input), {
    onEvent: (update) => void updates.push(update),
    onError: (thrown) => (error = thrown),
    onFinish: () => (isDone = true),
  })
  await vi.waitFor(() => {
    expect(updates.length > 0 || error).toBeTruthy()
  }, PATIENCE)
  return { updates, stop, latest: () => updates.at(-1)?.state, error: () => error, isDone: () => isDone }
}

describe('live.watch', () => {
  test('sends the current state, and the new state after a change on another instance', async () => {
    const { count } = await other.stranger.counter.set({ inputValue: 5 })
    const watched = await watch(service.stranger, { topics: ['counter'] })
    expect(watched.latest()).toEqual({ count })

    await other.stranger.counter.increment()

    await vi.waitFor(() => {
      expect(watched.latest()).toEqual({ count: 6 })
    }, PATIENCE)
    await watched.stop()
  })

  test('reads a state that changes often at most every 100 ms, and sends the last state', async () => {
    const watched = await watch(service.stranger, { topics: ['counter'] })
    const before = watched.updates.length

    const start = performance.now()
    for (let inputValue = 1; inputValue <= 20; inputValue++) {
      await service.stranger.counter.set({ inputValue })
      await sleep(25)
    }
    await vi.waitFor(() => {
      expect(watched.latest()).toEqual({ count: 20 })
    }, PATIENCE)

    const most = (performance.now() - start) / 100 + 2
    expect(watched.updates.length - before).toBeLessThanOrEqual(most)
    await watched.stop()
  })

  test('sends shared notes to readers, and removes a deleted note', async () => {
    const email = newEmail()
    const reader = await other.person(email)
    const author = await service.person()
    const watched = await watch(reader, { topics: ['notes'] })
    const latest = () => watched.latest() as Outputs['notes']['list']
    const note = await author.notes.create({ title: 'Plan', body: '' })
    await (await service.person(email)).notes.create({ title: 'Own', body: '' })
    await vi.waitFor(() => {
      expect(latest().notes).not.toEqual([])
    }, PATIENCE)
    expect(latest().notes).toMatchObject([{ title: 'Own' }])

    await author.notes.share({ id: note.id, email, role: 'reader' })
    await vi.waitFor(() => {
      expect(latest().notes).toMatchObject([{ title: 'Own' }, { title: 'Plan' }])
    }, PATIENCE)
    await author.notes.update({ id: note.id, title: 'Changed', body: '' })
    await vi.waitFor(() => {
      expect(latest().notes).toMatchObject([{ title: 'Own' }, { title: 'Changed' }])
    }, PATIENCE)
    await author.notes.delete({ id: note.id })
    await vi.waitFor(() => {
      expect(latest().notes).toMatchObject([{ title: 'Own' }])
    }, PATIENCE)
    await watched.stop()
  })

  test('ends when the session is revoked on another instance', async () => {
    const email = newEmail()
    const person = await service.person(email)
    const elsewhere = await other.person(email)
    const watched = await watch(person, { topics: ['tasks'] })
    const { sessions } = await elsewhere.sessions.list()
    const token = sessions.find(({ isCurrent }) => !isCurrent)?.token ?? ''

    await elsewhere.sessions.revoke({ revokeSessionToken: token })

    await vi.waitFor(() => {
      expect(watched.error()).toMatchObject({ code: 'UNAUTHORIZED', status: 401 })
    }, PATIENCE)
  })

  test('notices a change and a revocation while the connection for notifications is lost', async () => {
    const email = newEmail()
    const revoked = await watch(await service.person(email), { topics: ['tasks'] })
    const counting = await watch(service.stranger, { topics: ['counter'] })
    const { db } = service.services

    await db.execute(sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'tallystick-live' and datname = current_database()`)
    const { count } = await other.stranger.counter.increment()
    await db.execute(sql`delete from sessions where user_id = (select id from users where email = ${email})`)

    await vi.waitFor(() => {
      expect(revoked.error()).toMatchObject({ code: 'UNAUTHORIZED' })
    }, PATIENCE)
    await vi.waitFor(() => {
      expect(counting.latest()).toEqual({ count })
    }, PATIENCE)
    await counting.stop()
  })

  test('does not prevent a change in a session with an empty search_path, as of pg_restore', async () => {
    const { db } = service.services
    const email = newEmail()
    const watched = await watch(await service.person(email), { topics: ['tasks'] })

    await db.transaction(async (tx) => {
      await tx.execute(sql`set local search_path = ''`)
      await tx.execute(sql`
        delete from public.sessions where user_id = (select id from public.users where email = ${email})`)
      await tx.execute(sql`update public.users set name = 'Ada' where email = ${email}`)
      await tx.execute(sql`delete from public.note_shares where email = ${email}`)
    })

    await vi.waitFor(() => {
      expect(watched.error()).toMatchObject({ code: 'UNAUTHORIZED' })
    }, PATIENCE)
  })
})
