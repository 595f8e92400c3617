import { exporter } from '../fixtures/span-exporter.ts'

import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { randomBytes } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'

import { addBook } from '../fixtures/books.ts'
import { createFetch } from '../fixtures/http.ts'
import { PATIENCE } from '../fixtures/patience.ts'
import { withTableLocked, type Service, newEmail, startService } from '../fixtures/service.ts'

type Span = ReturnType<typeof exporter.getFinishedSpans>[number]

const hex = (bytes: number) => randomBytes(bytes).toString('hex')

/** Creates a trace context. Requests with the returned `headers` record their spans in this trace. */
function createTrace() {
  const [traceId, spanId] = [hex(16), hex(8)]
  const spans = () => exporter.getFinishedSpans().filter((span) => span.spanContext().traceId === traceId)
  /** Waits for the end of the request, and returns the spans of the trace. */
  const ended = () =>
    vi.waitFor(() => {
      const server = spans().find(({ kind }) => kind === SpanKind.SERVER)
      if (!server) throw new Error('The request has not ended')
      return { server, all: spans() }
    }, PATIENCE)
  return { headers: { traceparent: `00-${traceId}-${spanId}-01` }, spanId, ended }
}

const childrenOf = (parent: Span | undefined, all: Span[]) =>
  all.filter(({ parentSpanContext }) => parentSpanContext?.spanId === parent?.spanContext().spanId)
const named = (name: string, all: Span[]) => all.find((span) => span.name === name)
const names = (spans: Span[]) => spans.map(({ name }) => name)

describe('spans', () => {
  let service: Service
  let call: ReturnType<typeof createFetch>
  beforeAll(async () => {
    service = await startService()
    call = createFetch(service)
  })

  test.each([
    ['GET', '/api/loans/{id}', (id: number) => [`/api/loans/${id}`] as const],
    ['POST', '/rpc/loans/get', (id: number) => ['/rpc/loans/get', { json: { id } }] as const],
  ])('connect %s %s, its procedure and its statements', async (method, route, ask) => {
    const { headers, spanId, ended } = createTrace()
    const cookie = await service.signIn(newEmail())
    const loan = await call('POST', '/api/loans', { bookId: await addBook(service) }, { cookie })
    const [path, body] = ask((loan.body as { id: number }).id)

    const answer = await call(method, path, body, { cookie, ...headers })
    const { server, all } = await ended()

    expect(server).toMatchObject({
      name: `${method} ${route}`,
      parentSpanContext: { spanId },
      status: { code: SpanStatusCode.UNSET },
      attributes: {
        'http.request.method': method,
        'http.route': route,
        'http.response.status_code': 200,
        'url.path': path,
        'url.scheme': 'http',
        'tallystick.request.id': answer.headers.get('x-request-id'),
      },
    })
    expect(names(childrenOf(server, all))).toEqual(['loans.get'])
    const statements = childrenOf(named('loans.get', all), all)
    // Sorts the names, because the service sends statements at the same time and their spans have no fixed order.
    expect(names(statements).sort()).toEqual(['loans_find', 'loans_find', 'sessions_find_by_tokens'])
    expect(named('loans_find', statements)).toMatchObject({
      kind: SpanKind.CLIENT,
      attributes: {
        'db.system.name': 'postgresql',
        'db.query.summary': 'loans_find',
        'db.query.text': expect.stringMatching(/^select .*"loans".* where .*"user_id" = \$\d/) as string,
      },
    })
    expect(all).toHaveLength(5)
  })

  test('contain the same part of a path as the log', async () => {
    const { headers, ended } = createTrace()

    await call('GET', `/${'x'.repeat(7000)}`, undefined, headers)

    expect((await ended()).server.attributes['url.path']).toBe(`/${'x'.repeat(299)}`)
  })

  test('contain the statements of a transaction', async () => {
    const { headers, ended } = createTrace()
    const cookie = await service.signIn(newEmail())
    const bookId = await addBook(service)

    await call('POST', '/api/loans', { bookId }, { cookie, ...headers })
    const { all } = await ended()

    expect(names(childrenOf(named('loans.create', all), all))).toEqual(
      expect.arrayContaining(['select books', 'loans_insert_book_id_remark_user_id', 'loans_find']),
    )
  })

  test('belong to the request that caused them, and a shared statement to the first request', async () => {
    const traces = Array.from({ length: 20 }, createTrace)

    let received = 0
    const count = () => {
      received++
    }
    subscribe('http.server.request.start', count)
    onTestFinished(() => void unsubscribe('http.server.request.start', count))

    let answers: Promise<unknown>[] = []
    await withTableLocked(service.databaseUrl, 'visits', async () => {
      answers = traces.map(({ headers }) => call('GET', '/api/visits', undefined, headers))
      await vi.waitUntil(() => received === traces.length, PATIENCE)
    })
    await Promise.all(answers)
    const requests = await Promise.all(traces.map(({ ended }) => ended()))

    for (const { server, all } of requests) expect(names(childrenOf(server, all))).toEqual(['visits.get'])
    const statements = requests.flatMap(({ all }) => childrenOf(named('visits.get', all), all))
    expect(new Set(names(statements))).toEqual(new Set(['visits_get']))
    expect(statements.length).toBeLessThan(5)
  })

  test('distinguish client errors from failures', async () => {
    const [absent, stranger, nowhere] = [createTrace(), createTrace(), createTrace()]
    const cookie = await service.signIn(newEmail())

    await call('GET', '/api/loans/999999999', undefined, { cookie, ...absent.headers })
    await call('GET', '/api/shelves', undefined, stranger.headers)
    await call('GET', '/nowhere', undefined, nowhere.headers)

    const unset = { code: SpanStatusCode.UNSET }
    const refused = await absent.ended()
    expect(refused.server).toMatchObject({ attributes: { 'http.response.status_code': 404 }, status: unset })
    expect(named('loans.get', refused.all)).toMatchObject({
      attributes: { 'error.type': 'NOT_FOUND' },
      status: unset,
    })
    expect(named('shelves.list', (await stranger.ended()).all)?.attributes).toEqual({
      'error.type': 'UNAUTHORIZED',
    })
    expect(await nowhere.ended()).toMatchObject({
      server: { name: 'GET', status: unset },
      all: { length: 1 },
    })
  })

  describe('of a request to a missing table', () => {
    const rename = (from: string, to: string) =>
      service.services.db.execute(`alter table ${from} rename to ${to}`)
    beforeAll(() => rename('shelves', 'gone'))
    afterAll(() => rename('gone', 'shelves'))

    test('contain the type of the error, from the statement up to the request', async () => {
      const { headers, ended } = createTrace()
      const cookie = await service.signIn(newEmail())

      await call('GET', '/api/shelves', undefined, { cookie, ...headers })
      const { server, all } = await ended()

      const failed = (type: string) => ({
        attributes: { 'error.type': type },
        status: { code: SpanStatusCode.ERROR },
      })
      expect(server).toMatchObject(failed('500'))
      expect(named('shelves.list', all)).toMatchObject(failed('42P01'))
      expect(named('shelves_list', all)).toMatchObject(failed('42P01'))
      expect(named('sessions_find_by_tokens', all)?.status).toEqual({ code: SpanStatusCode.UNSET })
    })

    test('contain no value of the error and no secret of a sign-in or a call', async () => {
      const { headers, ended } = createTrace()
      const email = newEmail()
      const secret = 'swordfish'
      const json = { ...headers, authorization: `Bearer ${secret}` }

      await call('POST', '/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })
      const code = service.letters.findLast(({ to }) => to === email)?.subject.slice(0, 6) ?? ''
      await call('POST', '/api/auth/sign-in/email-otp', { email, otp: code })
      const cookie = await service.signIn(email)
      const answers = [
        await call('POST', '/api/shelves', { name: secret }, { cookie }),
        await call('POST', '/rpc/shelves/create', { json: { name: secret } }, { cookie }),
        await call('GET', `/api/visits?token=${secret}`, undefined, json),
      ]
      await ended()

      expect(answers.map(({ status }) => status)).toEqual([500, 500, 200])
      const spans = exporter.getFinishedSpans()
      expect(names([...spans])).toContain('POST /api/auth/sign-in/email-otp')
      const said = JSON.stringify(
        spans.map(({ name, attributes, events, links, status }) => [name, attributes, events, links, status]),
      )
      const signed = decodeURIComponent(cookie.slice(cookie.indexOf('=') + 1))
      for (const each of [secret, email, cookie, ...signed.split('.')]) expect(said).not.toContain(each)
      expect(said).not.toMatch(new RegExp(`(?<!\\d)${code}(?!\\d)`))
    })
  })
})

test('without an SDK the service creates no spans', async () => {
  trace.disable()
  vi.resetModules()

  expect((await import('../../telemetry/tracing.ts')).tracing).toBeUndefined()
})
