import { sql } from 'drizzle-orm'
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { isDeepStrictEqual as isEqual } from 'node:util'
import { describe, expect, onTestFinished, test, vi } from 'vitest'

import { createApp } from '../../http/server/app.ts'
import { type EventSource, openEvents, waitForState } from '../fixtures/event-source.ts'
import { PATIENCE } from '../fixtures/patience.ts'
import { newEmail, startService } from '../fixtures/service.ts'

// Replaces the clock of intervals before the imports, because one interval of the service begins with its import.
vi.hoisted(() => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))

const SECOND = 1000
const service = await startService()
const { db } = service.services

/** Signs in a person with a list of shelves of a megabyte. Returns a function that changes the list. */
async function signInWithLargeList() {
  const email = newEmail()
  const cookie = await service.signIn(email)
  await db.execute(sql`
    insert into shelves (user_id, name)
    select id, repeat('x', 10000) from users, generate_series(1, 100) where email = ${email}`)
  const client = service.client({ cookie })
  const quick = await openEvents(service.origin, '/api/live?topics=shelves', { cookie })
  /** Changes the list, and waits until a reader that reads immediately has received the list. */
  const change = async () => {
    const before = countStates(quick)
    await client.shelves.create({ name: 'x' })
    await vi.waitUntil(() => countStates(quick) > before, PATIENCE)
  }
  return { cookie, client, change }
}

/** Starts an HTTP server of the service. `connect` opens a stream of shelves, and returns both ends of its connection. */
async function startServer() {
  const server = createApp(service.services).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const connect = async (headers: { cookie: string }) => {
    const connected = once(server, 'connection') as Promise<[Socket]>
    const source = await openEvents(origin, '/api/live?topics=shelves', headers)
    const [socket] = await connected
    return { source, socket }
  }
  return { server, connect }
}

/** Opens a stream of a client that accepts nothing, and changes the list until the buffers of the connection are full. */
async function connectStuck({ connect }: Awaited<ReturnType<typeof startServer>>) {
  const { cookie, change } = await signInWithLargeList()
  const { source, socket } = await connect({ cookie })
  source.response.pause()
  for (let before = -1; socket.writableLength === 0 || socket.writableLength !== before;) {
    before = socket.writableLength
    await change()
  }
  return { source, socket }
}

const countStates = ({ events }: EventSource) => events.filter(({ data }) => data !== undefined).length

describe('an event stream', () => {
  test('has a comment every 15 seconds', async () => {
    const source = await openEvents(service.origin, '/api/live?topics=visits')
    const commentsAfter = async (time: number) => {
      vi.advanceTimersByTime(time)
      const { count } = await service.stranger.visits.add()
      // The state arrives after the comments. `vi.waitFor` would advance the clock.
      while (!isEqual(source.stateOf('visits'), { count })) await once(source.response, 'data')
      return source.events.length - countStates(source)
    }

    expect(await commentsAfter(14 * SECOND)).toBe(0)
    expect(await commentsAfter(1 * SECOND)).toBe(1)
    expect(await commentsAfter(14 * SECOND)).toBe(1)
    expect(await commentsAfter(1 * SECOND)).toBe(2)
  })

  test('skips states for a slow reader', async () => {
    const { cookie, client, change } = await signInWithLargeList()
    const { source: slow } = await (await startServer()).connect({ cookie })
    slow.response.pause()
    const CHANGES = 20
    for (let index = 0; index < CHANGES; index++) await change()

    slow.response.resume()

    await waitForState(slow, 'shelves', await client.shelves.list())
    expect(countStates(slow)).toBeGreaterThan(1)
    expect(countStates(slow)).toBeLessThan(CHANGES / 2)
  })

  // Node reports a timeout after the second period in which the socket has sent nothing.
  test('disconnects a reader that accepts nothing for 30 to 60 seconds', async () => {
    const { source, socket } = await connectStuck(await startServer())
    expect(socket.timeout).toBe(30 * SECOND)

    // The timers of sockets have no fake clock.
    socket.setTimeout(300)

    await once(socket, 'close')
    const [error] = (await once(source.response.resume(), 'error')) as [Error]
    expect(error.message).toBe('aborted')
  })

  // The last test, because the service does not accept streams afterwards.
  test('does not delay the stop of the service if the reader accepts nothing', async () => {
    const started = await startServer()
    await connectStuck(started)

    const closed = once(started.server.close(), 'close')
    service.services.closing.abort()

    // Without a limit for the end of the stream, the server would close only after 30 to 60 seconds.
    await closed
  })
})
