import { AsyncResource } from 'node:async_hooks'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'

import type { RecordedRequest } from '../../console/requests/requests-contract.ts'
import type { Context } from '../../call/context.ts'
import { recordCall, recordings } from '../../telemetry/recording.ts'
import { createRecorder } from '../../console/requests/recorder.ts'
import { startConsole } from '../fixtures/console.ts'
import { app as library } from '../library/app.ts'

const { client, service, services } = await startConsole()

/** Watches the requests until the callback has ended. `next` waits for the next request that matches. */
async function watching<Result>(
  work: (watch: {
    first: RecordedRequest[]
    next: (matches: (request: RecordedRequest) => boolean) => Promise<RecordedRequest>
  }) => Promise<Result>,
) {
  const abort = new AbortController()
  const events = await client.watch(undefined, { signal: abort.signal })
  const recorded = await events.next()
  const first = recorded.done ? [] : recorded.value.requests
  const next = async (matches: (request: RecordedRequest) => boolean) => {
    for (;;) {
      const result = await events.next()
      const found = result.done ? undefined : result.value.requests.find(matches)
      if (found) return found
    }
  }
  try {
    return await work({ first, next })
  } finally {
    abort.abort()
    await events.return(undefined).catch(() => undefined)
  }
}

const isCallOf = (operation: string) => (request: RecordedRequest) => request.operation === operation
const ada = { person: 'ada' as const, scopes: null }
const call = (operation: string, input: unknown = {}) =>
  client.procedures.call({ operation, input, caller: ada, headers: {} })

describe('watch', () => {
  test('shows a request with its caller, its statements, its input and its output', async () => {
    const request = await watching(async ({ next }) => {
      await call('shelves.create', { name: 'Recorded' })
      return next(isCallOf('shelves.create'))
    })

    expect(request).toMatchObject({
      method: 'POST',
      path: '/api/shelves',
      protocol: 'REST',
      person: 'ada@example.com',
      app: null,
      status: 200,
      calls: [{ operation: 'shelves.create', input: '{"name":"Recorded"}', error: null }],
    })
    expect(JSON.parse(request.calls[0]?.output ?? '')).toMatchObject({ name: 'Recorded' })
    expect(request.statements.map(({ text }) => text)).toContainEqual(
      expect.stringContaining('insert into "shelves"'),
    )
    expect(request.statementCount).toBe(request.statements.length)
    const sum = request.statements.reduce((total, { duration }) => total + duration, 0)
    expect(request.databaseTime).toBeCloseTo(sum)
    const [{ start, permitted, end } = { start: 0, permitted: 0, end: 0 }] = request.calls
    const insert = request.statements.find(({ text }) => text.includes('insert into "shelves"'))
    const times = [0, start, permitted, insert?.start, end, request.duration]
    expect(times).toEqual(times.toSorted((a, b) => Number(a) - Number(b)))
    expect(permitted).toBeGreaterThan(start)
  })

  test('assigns statements of concurrent requests to their own request', async () => {
    const found = await watching(async ({ next }) => {
      await call('shelves.create', { name: 'Old' })
      const { calls } = await next(isCallOf('shelves.create'))
      const { id } = JSON.parse(calls[0]?.output ?? '') as { id: number }
      const names = ['A', 'B', 'C', 'D', 'E']
      const all = names.map((name) => call('shelves.rename', { id, name }))
      const requests = []
      for (const _ of names) requests.push(await next(isCallOf('shelves.rename')))
      await Promise.all(all)
      return requests
    })

    for (const { statements } of found)
      expect(statements.filter(({ text }) => text.startsWith('update "shelves"'))).toHaveLength(1)
  })

  test('shows the declared error of a call', async () => {
    const request = await watching(async ({ next }) => {
      await call('loans.get', { id: '999999' })
      return next(isCallOf('loans.get'))
    })

    expect(request).toMatchObject({
      status: 404,
      calls: [{ output: null, error: { code: 'NOT_FOUND', message: 'There is no such loan' } }],
    })
    expect(request.calls[0]?.error?.stack).toContain('at ')
  })

  test('shows what is wrong with a refused input', async () => {
    const request = await watching(async ({ next }) => {
      await call('shelves.create', { name: '' })
      return next(isCallOf('shelves.create'))
    })

    expect(request).toMatchObject({
      status: 400,
      calls: [
        {
          error: { code: 'BAD_REQUEST', cause: { issues: [{ path: 'name', message: expect.any(String) }] } },
        },
      ],
    })
  })

  test('shows the app of an access token, and no token', async () => {
    const found = await watching(async ({ next }) => {
      await client.procedures.call({
        operation: 'shelves.list',
        input: {},
        caller: { person: 'charles', scopes: ['read'] },
        headers: {},
      })
      return [await next(isCallOf('tokens.create')), await next(isCallOf('shelves.list'))]
    })

    expect(found[1]).toMatchObject({ person: 'charles@example.com', app: expect.stringMatching(/./) })
    expect(JSON.stringify(found)).not.toContain('tally_')
    expect(JSON.parse(found[0]?.calls[0]?.output ?? '')).toMatchObject({ token: '(removed)' })
  })

  test('shows the protocols', async () => {
    const protocols = await watching(async ({ next }) => {
      const { fetch } = service
      const seen = []
      for (const [path, body] of [
        ['/api/visits/add', {}],
        ['/rpc/visits/add', {}],
        ['/mcp', {}],
        ['/api/auth/sign-out', {}],
      ] as const) {
        await fetch('POST', path, body)
        seen.push((await next((request) => request.path === path)).protocol)
      }
      return seen
    })

    expect(protocols).toEqual(['REST', 'RPC', 'MCP', 'other'])
  })

  test('shows a stream that its reader has left as a stream, and a refused stream as a refusal', async () => {
    await watching(async ({ next }) => {
      const { stream } = await client.live.open({ input: { topics: ['shelves'] }, caller: ada })
      await client.live.close({ stream })
      const closed = await next(isCallOf('live.watch'))
      await service.fetch('GET', '/api/live?topics=shelves')
      const refused = await next(isCallOf('live.watch'))

      expect(closed).toMatchObject({ isStream: true, status: null, calls: [{ output: '"(a stream)"' }] })
      expect(refused).toMatchObject({ isStream: false, status: 401 })
    })
  })

  test('shows no call that the console hides, and every other call', async () => {
    await expect.poll(isIdle).toBe(true)
    const first = await watching(async ({ next }) => {
      const headers = { 'x-tallystick-unrecorded': 'a guess' }
      await client.procedures.call({ operation: 'visits.get', caller: ada, headers: {}, isRecorded: false })
      await service.fetch('GET', '/api/visits', undefined, headers)
      await call('shelves.create', { name: 'After' })
      await next(isCallOf('shelves.create'))
      return watching(({ first }) => Promise.resolve(first))
    })

    expect(first.map(({ operation }) => operation)).toEqual(['visits.get', 'shelves.create'])
    expect(first[0]?.person).toBeNull()
  })

  test('records nothing while nobody looks', async () => {
    await expect.poll(isIdle).toBe(true)
    await call('shelves.create', { name: 'Not recorded' })

    const first = await watching(({ first }) => Promise.resolve(first))

    expect(first).toEqual([])
  })

  test('shows the earlier requests to a further watcher, and at most 200', async () => {
    const first = await watching(async ({ next }) => {
      for (let index = 0; index < 205; index++) await service.fetch('GET', '/api/visits')
      await service.fetch('GET', '/api/books')
      await next(isCallOf('books.list'))
      return watching(({ first }) => Promise.resolve(first))
    })

    expect(first).toHaveLength(200)
    expect(first.at(-1)).toMatchObject({ operation: 'books.list' })
  })
})

describe('a recording', () => {
  test('continues for a page that loads again, and stops without one', async () => {
    const recorder = createRecorder(library, 50)
    let stops = 0
    recorder.onStop(() => stops++)
    const watch = async () => {
      const batches = recorder.watch(undefined)
      await batches.next()
      await batches.return(undefined)
    }

    await watch()
    expect(recorder.isRecording()).toBe(true)
    await watch()
    await expect.poll(() => recorder.isRecording()).toBe(false)
    expect(stops).toBe(1)
  })

  test('counts the time of concurrent statements once', async () => {
    const request = await watching(async ({ next }) => {
      let release: () => void = () => undefined
      const held = new Promise<void>((resolve) => (release = resolve))
      const response = record(() => {
        for (let index = 0; index < 3; index++)
          void services.recorder?.observeStatement({ ...statement, name: `concurrent ${index}` }, () => held)
      })
      release()
      await new Promise((resolve) => setTimeout(resolve))
      response.emit('close')
      return next(({ path }) => path === '/recorded')
    })

    const durations = request.statements.map(({ duration }) => duration)
    expect(durations).toHaveLength(3)
    expect(request.databaseTime).toBeGreaterThanOrEqual(Math.max(...durations))
    expect(request.databaseTime).toBeLessThan(durations.reduce((a, b) => a + b))
    expect(request.databaseTime).toBeLessThanOrEqual(request.duration)
  })

  const statement = { name: 'test', text: 'select 1', isInTransaction: false }
  const run = () => Promise.resolve()

  test('that the last watcher has left is not shown to the next watcher', async () => {
    const response = await watching(() => Promise.resolve(record(() => undefined)))
    await expect.poll(isIdle).toBe(true)

    const first = await watching(({ first }) => {
      response.emit('close')
      return watching(({ first: second }) => Promise.resolve([...first, ...second]))
    })

    expect(first).toEqual([])
  })

  test('of a long stream has a limit, and ends with the request', async () => {
    await watching(async ({ next }) => {
      const repeated = async () => {
        for (let index = 0; index < 60; index++) await services.recorder?.observeStatement(statement, run)
        return recordings.getStore()?.recording
      }
      let work: Promise<unknown> | undefined
      let later: typeof repeated = repeated
      const response = record(() => {
        later = AsyncResource.bind(repeated)
        work = repeated()
      })
      expect(await work).toMatchObject({ statements: { length: 50 }, statementCount: 60 })

      response.emit('close')

      expect((await next(({ path }) => path === '/recorded')).statementCount).toBe(60)
      expect(await later()).toMatchObject({ statements: [], calls: [], statementCount: 60 })
    })
  })

  test('has a limit for the calls of a stream', async () => {
    await watching(async () => {
      let work: Promise<unknown> = Promise.resolve()
      record(() => {
        work = Promise.all(Array.from({ length: 30 }, () => recordOf({ output: 'x' }))).then(
          () => recordings.getStore()?.recording,
        )
      })

      expect(await work).toMatchObject({ calls: { length: 20 } })
    })
  })
})

/** Handles a request with a recording. Returns the response. */
function record(handle: () => void) {
  const request = Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url: '/recorded' })
  const response = new ServerResponse(request)
  services.recorder?.record(request, response, () => undefined, handle)()
  return response
}

/** Records a call with an output in the current recording. */
function recordOf(result: { output: unknown }) {
  const recording = recordings.getStore()?.recording
  if (!recording) throw new Error('There is no recording')
  const context = { attributes: {} } as Context
  return recordCall(recording, { operation: 'test', input: {}, context }, () => Promise.resolve(result))
}

/** Returns whether the next request has no recording. */
function isIdle() {
  const request = new IncomingMessage(new Socket())
  const handle = () => undefined
  return services.recorder?.record(request, new ServerResponse(request), () => undefined, handle) === handle
}
