import { sql } from 'drizzle-orm'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'

import { createApp } from '../../src/http/app.ts'
import { createTallystick } from '../../src/testing.ts'
import { openEvents, waitForState } from '../fixtures/event-source.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const secret = { AUTH_SECRET: 'x'.repeat(40) }
const service = await startService(secret)
const { db } = service.services
const events = (path: string, headers?: Record<string, string>) => openEvents(service.origin, path, headers)

/** Signs in a person with a task list of a megabyte. */
async function signInWithLargeList() {
  const email = newEmail()
  const cookie = await service.signIn(email)
  await db.execute(sql`
    insert into tasks (user_id, title, description)
    select id, 'x', repeat('x', 10000) from users, generate_series(1, 100) where email = ${email}`)
  return { cookie, client: service.client({ cookie }) }
}

const path = '/api/live?topics=tasks'

describe.concurrent('an event stream', () => {
  test('has a comment every 15 seconds', async () => {
    const source = await events('/api/live?topics=counter')

    await sleep(15_500)

    expect(source.events.filter(({ comment }) => comment !== undefined)).toHaveLength(1)
  })

  test('skips states for a slow reader', async () => {
    const { cookie, client } = await signInWithLargeList()
    const slow = await events(path, { cookie })
    slow.response.pause()
    const CHANGES = 60
    for (let index = 0; index < CHANGES; index++) {
      await client.tasks.create({ taskTitle: String(index) })
      await sleep(30)
    }

    slow.response.resume()

    await waitForState(slow, 'tasks', await client.tasks.list())
    expect(slow.events.length).toBeGreaterThan(1)
    expect(slow.events.length).toBeLessThan(CHANGES / 2)
  })

  test('does not delay the stop of the service if the reader accepts nothing', async () => {
    const second = await createTallystick({ DATABASE_URL: service.databaseUrl, ...secret })
    const server = createApp(second.services).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { cookie, client } = await signInWithLargeList()
    const stuck = await openEvents(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, path, {
      cookie,
    })
    stuck.response.pause()
    for (let index = 0; index < 30; index++) {
      await client.tasks.create({ taskTitle: String(index) })
      await sleep(30)
    }

    const closed = once(server.close(), 'close')
    second.services.closing.abort()

    expect(await Promise.race([closed, sleep(5000, 'open')])).not.toBe('open')
    stuck.close()
    await second.close()
  })

  // Node reports a timeout after the second period in which the socket has sent nothing.
  test('disconnects a reader that accepts nothing for 30 to 60 seconds', { timeout: 90_000 }, async () => {
    const { cookie, client } = await signInWithLargeList()
    const stuck = await events(path, { cookie })
    stuck.response.pause()
    for (let index = 0; index < 30; index++) {
      await client.tasks.create({ taskTitle: String(index) })
      await sleep(30)
    }

    await sleep(62_000)

    const [error] = (await once(stuck.response.resume(), 'error')) as [Error]
    expect(error.message).toBe('aborted')
  })
})
