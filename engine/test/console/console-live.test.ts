import { describe, expect, test } from 'vitest'

import type { LiveEntry } from '../../console/live/live-contract.ts'
import { startConsole } from '../fixtures/console.ts'

const { client, service, services } = await startConsole()

type Kind = LiveEntry['kind']
type Entry<Of extends Kind> = Extract<LiveEntry, { kind: Of }>
type Next = <Of extends Kind>(kind: Of, matches?: (entry: Entry<Of>) => boolean) => Promise<Entry<Of>>

/** Watches the live updates until the callback has ended. `next` waits for an entry, and skips earlier entries. */
async function watching(work: (next: Next) => Promise<void>) {
  const abort = new AbortController()
  const events = await client.watch(undefined, { signal: abort.signal })
  await events.next()
  const waiting: LiveEntry[] = []
  const next: Next = async (kind, matches = () => true) => {
    const isWanted = (entry: LiveEntry): entry is Entry<typeof kind> =>
      entry.kind === kind && matches(entry as Entry<typeof kind>)
    for (;;) {
      for (let entry = waiting.shift(); entry; entry = waiting.shift()) if (isWanted(entry)) return entry
      const result = await events.next()
      if (result.done) throw new Error('The recording has ended')
      waiting.push(...result.value.live)
    }
  }
  try {
    await work(next)
  } finally {
    abort.abort()
    await events.return(undefined).catch(() => undefined)
    await expect.poll(() => services.recorder?.findLiveObserver()).toBeUndefined()
  }
}

const callerOf = (person: 'ada' | 'charles') => ({ person, scopes: null })
const call = (operation: string, input: unknown, person: 'ada' | 'charles' = 'ada') =>
  client.procedures.call({ operation, input, caller: callerOf(person), headers: {} })
const open = (topics: string[], person: 'ada' | 'charles' = 'ada') =>
  client.live.open({ input: { topics }, caller: callerOf(person) })
const ofTopic = (topic: string) => (entry: { topic: string }) => entry.topic === topic

describe('a stream that the console opens', () => {
  test('is listed with its person, its topics and its request', async () => {
    await watching(async (next) => {
      const { stream } = await open(['shelves', 'visits'])

      const found = (await client.live.streams()).find(({ id }) => id === stream)

      expect(found).toMatchObject({
        person: 'ada@example.com',
        app: null,
        request: expect.stringMatching(/^[\da-f-]{36}$/),
        topics: [
          { topic: 'shelves', of: null },
          { topic: 'visits', of: null },
        ],
        isOfConsole: true,
      })
      await client.live.close({ stream })
      expect(await next('closed')).toMatchObject({ stream })
    })
  })

  test('ends when the last developer leaves', async () => {
    await watching(async () => {
      await open(['visits'])
    })

    await watching(async () => {
      await expect.poll(() => client.live.streams()).toEqual([])
    })
  })

  test('is refused with the error of the service', async () => {
    await watching(async () => {
      await expect(
        client.live.open({ input: { topics: ['none'] }, caller: callerOf('ada') }),
      ).rejects.toThrow(/input validation failed/i)
      await expect(
        client.live.open({ input: { topics: ['shelves'] }, caller: { person: null, scopes: null } }),
      ).rejects.toThrow(/sign/i)
    })
  })
})

describe('an announcement', () => {
  test('shows its procedure, its request, and the event with size and delay', async () => {
    await watching(async (next) => {
      const { stream } = await open(['shelves'])
      const first = await next('sent')

      const { headers } = await call('shelves.create', { name: 'Announced' })

      const announced = await next('announced', ofTopic('shelves'))
      expect(announced).toMatchObject({
        operation: 'shelves.create',
        request: headers.find(([name]) => name === 'x-request-id')?.[1],
        sender: null,
        recipients: [{ kind: 'person' }],
        streams: [stream],
        otherStreams: [],
      })
      const read = await next('read')
      expect(read).toMatchObject({ outcome: 'changed', streams: [stream] })
      expect(read.announcements).toContain(announced.number)
      const sent = await next('sent')
      expect(sent).toMatchObject({ stream, topic: 'shelves', read: read.number })
      expect(sent.state).toContain('Announced')
      expect(sent.size).toBeGreaterThan(first.size)
      expect(sent.size).toBe(Buffer.byteLength(sent.state ?? ''))
      expect(sent.delay).toBeGreaterThan(0)
    })
  })

  test('of a public topic shows the read before the event', async () => {
    await watching(async (next) => {
      const { stream } = await open(['visits'])
      await next('sent')

      await call('visits.add', undefined)

      const { number } = await next('announced', ofTopic('visits'))
      const read = await next('read', ({ announcements }) => announcements.includes(number))
      expect(await next('sent')).toMatchObject({ stream, topic: 'visits', read: read.number })
    })
  })

  test('names the streams that watch the topic with the data of another person', async () => {
    await watching(async (next) => {
      const { stream } = await open(['shelves'], 'charles')

      await call('shelves.create', { name: 'Of Ada' })

      expect(await next('announced', ofTopic('shelves'))).toMatchObject({
        streams: [],
        otherStreams: [stream],
      })
    })
  })

  test('leads to an equal state if the person may not see the change', async () => {
    await watching(async (next) => {
      const { body } = await call('shelves.create', { name: 'Shared once' })
      const { id } = JSON.parse(body) as { id: number }
      const share = { id, email: 'charles@example.com' }
      await call('shelves.share', { ...share, role: 'reader' })
      await call('shelves.unshare', share)
      const { stream } = await open(['shelves'], 'charles')
      await next('sent', (entry) => entry.stream === stream)

      // A repeated unshare announces to the address, and changes nothing.
      await call('shelves.unshare', share)

      const announced = await next('announced', ({ streams }) => streams.includes(stream))
      const read = await next('read', ({ streams }) => streams.includes(stream))
      expect(read).toMatchObject({ outcome: 'equal', announcements: [announced.number] })
    })
  })

  test('of another process, an operator or the database names its sender', async () => {
    await watching(async (next) => {
      const { stream } = await open(['visits'])

      await services.notifications.notify('operator visits')

      expect(await next('announced', ofTopic('visits'))).toMatchObject({
        sender: 'operator',
        operation: null,
        streams: [stream],
      })
      await services.notifications.notify('other visits')
      expect(await next('announced', ofTopic('visits'))).toMatchObject({ sender: 'process' })
    })
  })
})

describe('the recording of live updates', () => {
  test('has no observer while no developer looks', async () => {
    expect(services.recorder?.findLiveObserver()).toBeUndefined()

    await watching(async () => {
      expect(services.recorder?.findLiveObserver()).toBeDefined()
      await Promise.resolve()
    })
  })

  test('removes the values of fields with secrets', async () => {
    await watching(async (next) => {
      const { stream } = await open(['sessions'])

      const { state } = await next('sent', (entry) => entry.stream === stream)

      expect(JSON.parse(state ?? '')).toHaveProperty('sessions.0.token', '(removed)')
    })
  })

  test('keeps at most 300 entries', async () => {
    await watching(async (next) => {
      const abort = new AbortController()
      for (let index = 0; index < 310; index++)
        services.live.announce({ name: `t${index}`, access: 'public' } as never)
      await next('announced', ofTopic('t309'))

      const events = await client.watch(undefined, { signal: abort.signal })
      const first = await events.next()
      const recorded = first.done ? [] : first.value.live

      expect(recorded).toHaveLength(300)
      expect(recorded.at(-1)).toMatchObject({ topic: 't309' })
      abort.abort()
    })
  })

  test('lists the topics with the procedures that announce them', async () => {
    const topics = await client.live.topics()

    expect(topics.find(({ name }) => name === 'visits')).toEqual({
      name: 'visits',
      readBy: 'visits.get',
      announcedBy: ['visits.add'],
    })
  })

  test('shows a stream that a client has opened before', async () => {
    const { origin } = service
    const abort = new AbortController()
    const response = await fetch(`${origin.replace('localhost', '127.0.0.1')}/api/live?topics=visits`, {
      signal: abort.signal,
    })

    await watching(async () => {
      expect(await client.live.streams()).toMatchObject([{ person: null, request: null, isOfConsole: false }])
    })

    abort.abort()
    expect(response.status).toBe(200)
  })
})
