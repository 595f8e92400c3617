import { once } from 'node:events'
import { type IncomingMessage, request as sendRequest } from 'node:http'
import { ORPCError } from 'tallystick-contract'
import { consumeLimit, endpoint } from 'tallystick'
import { describe, expect, test, vi } from 'vitest'

import { rateLimit, startEndpoints } from '../fixtures/endpoints-app.ts'
import { serveWithLog } from '../fixtures/logged-server.ts'
import { PATIENCE } from '../fixtures/patience.ts'

const none = { name: 'answers', points: 1, duration: 60 }
const get = { method: 'GET', rateLimit } as const
const encoder = new TextEncoder()

/** What the streams of the endpoints have done. */
const seen = { started: 0, pulled: 0, cancelled: 0, aborted: 0 }

/** An endless body, which counts its parts. */
const endless = () =>
  new ReadableStream<Uint8Array>({
    pull(controller) {
      seen.pulled++
      controller.enqueue(new Uint8Array(64 * 1024))
    },
    cancel: () => {
      seen.cancelled++
    },
  })

const service = await startEndpoints(
  {
    headers: endpoint({ ...get, path: '/answers/headers' }, ({ context: { reply } }) => {
      reply.set('x-frame-options', 'DENY')
      reply.set('set-cookie', ['test-library.session_token=a', 'own=1; Path=/'])
      reply.set('Content-Security-Policy', 'default-src *')
      reply.set('Set-Cookie', 'Test-Library.other=1')
      return new Response('text', {
        headers: [
          ['content-security-policy', 'default-src *'],
          ['x-content-type-options', 'none'],
          ['x-request-id', 'mine'],
          ['access-control-allow-origin', '*'],
          ['transfer-encoding', 'gzip'],
          ['content-length', '1'],
          ['connection', 'upgrade'],
          ['set-cookie', 'theme=dark'],
          ['set-cookie', '__Host-test-library.session_token=b'],
          ['set-cookie', ' =Test-Library.session_data=c'],
          ['cache-control', 'max-age=60'],
          ['vary', 'Cookie'],
          ['x-own', 'yes'],
        ],
      })
    }),
    status: endpoint(
      { ...get, path: '/answers/status/{status}' },
      ({ params: { status } }) => new Response(null, { status: Number(status), statusText: 'Own' }),
    ),
    injected: endpoint(
      { ...get, path: '/answers/injected' },
      () => new Response('', { headers: { 'x-own': 'a\r\nset-cookie: b=c' } }),
    ),
    error: endpoint({ ...get, path: '/answers/error' }, () => Response.error()),
    used: endpoint({ ...get, path: '/answers/used' }, async () => {
      const answer = new Response('text')
      await answer.text()
      return answer
    }),
    locked: endpoint({ ...get, path: '/answers/locked' }, () => {
      const answer = new Response('text')
      answer.body?.getReader()
      return answer
    }),
    invalid: endpoint(
      { ...get, path: '/answers/invalid' },
      () => new Response('text', { headers: { 'content-encoding': 'gzip', 'x-own': '\u0001' } }),
    ),
    limited: endpoint({ ...get, path: '/answers/limited' }, async ({ context }) => {
      await consumeLimit(context, none, 'all')
      return new Response()
    }),
    nothing: endpoint({ ...get, path: '/answers/nothing' }, () => undefined as unknown as Response),
    thrown: endpoint({ ...get, path: '/answers/thrown' }, () => {
      throw new Error('a secret')
    }),
    refused: endpoint({ ...get, path: '/answers/refused' }, () => {
      throw new ORPCError('GONE', { status: 410, message: 'It is gone' })
    }),
    broken: endpoint({ ...get, path: '/answers/broken' }, () => {
      const parts = [encoder.encode('part')]
      return new Response(
        new ReadableStream({
          pull(controller) {
            const part = parts.pop()
            if (part) controller.enqueue(part)
            else controller.error(new Error('a secret'))
          },
        }),
      )
    }),
    endless: endpoint({ ...get, path: '/answers/endless' }, () => new Response(endless())),
    events: endpoint(
      { ...get, path: '/answers/events', timeout: 1 },
      () =>
        new Response(
          new ReadableStream({
            start(controller) {
              controller.enqueue(encoder.encode('data: 1\n\n'))
            },
            cancel: () => {
              seen.cancelled++
            },
          }),
          { headers: { 'content-type': 'text/event-stream' } },
        ),
    ),
    never: endpoint({ ...get, path: '/answers/never', timeout: 1 }, ({ request }) => {
      seen.started++
      request.signal.addEventListener('abort', () => {
        seen.aborted++
      })
      return new Promise<Response>(() => undefined)
    }),
    large: endpoint(
      { ...get, path: '/answers/large' },
      () => new Response('x', { headers: { 'x-large': 'x'.repeat(100_000) } }),
    ),
    declared: endpoint({ ...get, path: '/answers/declared', rateLimit: none }, () => new Response()),
    echo: endpoint(
      { method: 'POST', rateLimit, path: '/answers/echo', body: 'stream' },
      ({ body }) => new Response(body),
    ),
  },
  { RATE_LIMITS: 'on' },
)
const { origin, lines } = await serveWithLog(service.services, 'info')
const fetchPath = (path: string) => fetch(`${origin}/answers/${path}`)
const logged = (text: string) => lines.filter((line) => line.includes(text))

/** Opens an answer, without reading its body. */
async function open(path: string) {
  const sent = sendRequest(`${origin}/answers/${path}`, { agent: false })
  sent.on('error', () => undefined)
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.on('error', () => undefined)
  return response
}

describe('the headers of an answer', () => {
  test('are those of the handler, except for headers and cookies of the engine', async () => {
    const { headers } = await fetchPath('headers')

    expect(Object.fromEntries(headers)).toMatchObject({
      // A browser enforces all of these policies.
      'content-security-policy': "default-src 'none';frame-ancestors 'none', default-src *, default-src *",
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.stringMatching(/^[\da-f-]{36}$/),
      'transfer-encoding': 'chunked',
      'cache-control': 'max-age=60',
      vary: 'Origin, Accept, Datastar-Request, Accept-Encoding, Cookie',
      'x-frame-options': 'DENY',
      'x-own': 'yes',
    })
    expect(headers.has('access-control-allow-origin')).toBe(false)
    expect(headers.getSetCookie()).toEqual(['own=1; Path=/', 'theme=dark'])
    expect(logged('an endpoint set headers of the engine')).toHaveLength(2)
  })

  test('cannot contain a line break', async () => {
    const answer = await fetchPath('injected')

    expect([answer.status, answer.headers.has('set-cookie')]).toEqual([500, false])
  })

  test('can be larger than those of a request', async () => {
    const sent = sendRequest(`${origin}/answers/large`, { maxHeaderSize: 200_000, agent: false }).end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.resume()

    expect(response.headers['x-large']).toHaveLength(100_000)
  })
})

describe('the status of an answer', () => {
  test.each([204, 205, 304, 404, 418, 503])('can be %d without a body', async (status) => {
    const answer = await fetchPath(`status/${status}`)

    expect([answer.status, await answer.text()]).toEqual([status, ''])
  })

  test.each(['100', '101', '199', '600', 'NaN'])('cannot be %s', async (status) => {
    expect((await fetchPath(`status/${status}`)).status).toBe(500)
  })
})

describe('a handler', () => {
  test.each(['thrown', 'error', 'used', 'locked', 'nothing'])(
    'that fails is 500 without details, and has one line in the log: %s',
    async (path) => {
      lines.length = 0
      const answer = await fetchPath(path)

      expect(answer.status).toBe(500)
      expect(await answer.json()).toMatchObject({ code: 'INTERNAL_SERVER_ERROR', defined: false })
      await vi.waitFor(() => {
        expect(logged('responseTime')).toHaveLength(1)
      }, PATIENCE)
      expect(logged('"stack"')).toHaveLength(1)
      expect(logged('a secret')).toEqual([])
      expect(logged(`endpoints.${path}`).length).toBeGreaterThan(0)
    },
  )

  test('with an invalid header is 500, without the other headers', async () => {
    lines.length = 0
    const answer = await fetchPath('invalid')

    expect([answer.status, answer.headers.has('content-encoding')]).toEqual([500, false])
    expect(logged('ERR_INVALID_CHAR')).toHaveLength(1)
  })

  test('can refuse by a limit of its own', async () => {
    expect((await fetchPath('limited')).status).toBe(200)
    const answer = await fetchPath('limited')

    expect(answer.status).toBe(429)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test('can throw an error for the caller', async () => {
    const answer = await fetchPath('refused')

    expect(answer.status).toBe(410)
    expect(await answer.json()).toMatchObject({ code: 'GONE', message: 'It is gone', error: 'It is gone' })
  })

  test('that does not answer is 503 after its timeout, and its signal is aborted', async () => {
    const answer = await fetchPath('never')

    expect(answer.status).toBe(503)
    await vi.waitFor(() => {
      expect(seen.aborted).toBe(1)
    }, PATIENCE)
  })

  test('receives the abort of its signal if the client leaves', async () => {
    Object.assign(seen, { started: 0, aborted: 0 })
    const sent = sendRequest(`${origin}/answers/never`, { agent: false }).end()
    sent.on('error', () => undefined)
    await vi.waitFor(() => {
      expect(seen.started).toBe(1)
    }, PATIENCE)
    sent.destroy()

    await vi.waitFor(() => {
      expect(seen.aborted).toBe(1)
    }, PATIENCE)
  })
})

describe('the body of an answer', () => {
  test('that fails breaks the connection, so that the client notices', async () => {
    lines.length = 0
    const answer = await fetchPath('broken')

    await expect(answer.text()).rejects.toThrow()
    await vi.waitFor(() => {
      expect(logged('the body of an answer failed')).toHaveLength(1)
    }, PATIENCE)
  })

  test('waits for a client that does not read, and is cancelled if the client leaves', async () => {
    Object.assign(seen, { pulled: 0, cancelled: 0 })
    const response = await open('endless')
    let last = -1
    await vi.waitFor(() => {
      const before = last
      last = seen.pulled
      expect(last).toBeGreaterThan(0)
      expect(last).toBe(before)
    }, PATIENCE)
    expect(seen.pulled).toBeLessThan(200)

    response.destroy()

    await vi.waitFor(() => {
      expect(seen.cancelled).toBe(1)
    }, PATIENCE)
  })

  test('that is an event stream ends with the timeout', async () => {
    seen.cancelled = 0
    const answer = await fetchPath('events')

    await expect(answer.text()).rejects.toThrow()
    await vi.waitFor(() => {
      expect(seen.cancelled).toBe(1)
    }, PATIENCE)
  })

  test('can be sent while the body of the request arrives', async () => {
    const sent = sendRequest(`${origin}/answers/echo`, { method: 'POST', agent: false })
    sent.write('one')
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const [first] = (await once(response, 'data')) as [Buffer]
    sent.end('two')
    const [second] = (await once(response, 'data')) as [Buffer]

    expect([String(first), String(second)]).toEqual(['one', 'two'])
  })
})

test('a request that is refused has the name of its endpoint in the log', async () => {
  lines.length = 0
  await fetch(`${origin}/answers/echo`, { method: 'POST', body: new Uint8Array(2 ** 20 + 1) })

  await vi.waitFor(() => {
    expect(logged('"operation":"endpoints.echo"')).toHaveLength(1)
  }, PATIENCE)
})

test('the stop of the service ends event streams of handlers immediately', async () => {
  const own = await startEndpoints({
    events: endpoint(
      { ...get, path: '/events' },
      () =>
        new Response(
          new ReadableStream({
            start: (controller) => {
              controller.enqueue(encoder.encode('a'))
            },
          }),
          {
            headers: { 'content-type': 'text/event-stream' },
          },
        ),
    ),
  })
  const answer = await fetch(`${own.origin}/events`)

  own.services.closing.abort()

  await expect(answer.text()).rejects.toThrow()
})
