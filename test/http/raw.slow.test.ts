import fc from 'fast-check'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, test } from 'vitest'

import { createApp } from '../../engine/http/server/app.ts'
import { newEmail, startService } from '../fixtures/service.ts'
import { createFramingExchange, framings, incompleteRequests } from '../trials/framing.ts'
import { faultsOf } from '../trials/protocol-checks.ts'
import { type Step, exchange } from '../../engine/test/fixtures/raw-http.ts'

const service = await startService({ ANSWER_TIMEOUT: '0.5' })
const port = Number(new URL(service.origin).port)
const caller = { cookie: await service.signIn(newEmail()), marker: 'own' }
const given = { cut: 40, noise: Buffer.from('noise\r\n\r\n') }

describe('HTTP', () => {
  test.each(Object.keys(framings))('responds to %s as the protocol requires', async (kind) => {
    const sent = createFramingExchange({ kind, ...given })(caller)

    const responses = sent.endsConnection ? Infinity : sent.responses[1]
    const received = await exchange(port, sent.steps, { responses, timeout: 5000 })

    expect(faultsOf(sent, received, [])).toEqual([])
  })

  test('ignores an unknown expectation, and rejects a missing Host header with the common error body', async () => {
    const ask = async (lines: string) => {
      const steps: Step[] = [`GET /api/status HTTP/1.1\r\n${lines}connection: close\r\n\r\n`]
      const { responses } = await exchange(port, steps, { timeout: 5000 })
      return responses.map(({ status, headers, body }) => [
        status,
        headers.has('x-request-id'),
        JSON.parse(body) as unknown,
      ])
    }

    expect(await ask('host: x\r\nexpect: tea\r\n')).toMatchObject([[200, true, { status: 'ok' }]])
    expect(await ask('')).toMatchObject([
      [
        400,
        true,
        { code: 'BAD_REQUEST', error: 'Send exactly one Host header, with a host and an optional port' },
      ],
    ])
  })

  const POST = 'POST /api/reservations HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n'
  const length = (bytes: Buffer) => [`${POST}content-length: ${bytes.length}\r\n\r\n`, bytes]
  const chunk = (bytes: Buffer) => [`${bytes.length.toString(16)}\r\n`, bytes, '\r\n']
  const chunks = (bytes: Buffer) => [
    `${POST}transfer-encoding: chunked\r\n\r\n`,
    ...[bytes.subarray(0, 9), bytes.subarray(9)].filter(({ length }) => length > 0).flatMap(chunk),
    '0\r\n\r\n',
  ]
  const bodyFramings = [
    { by: 'Content-Length', sent: length },
    { by: 'chunked encoding', sent: chunks },
  ]

  test.each(bodyFramings)('accepts a body with $by in any number of pieces', async ({ sent }) => {
    const piece = fc.record({
      size: fc.integer({ min: 1, max: 200_000 }),
      pause: fc.integer({ max: 5, min: 0 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 200_000 }), fc.array(piece), async (size, pieces) => {
        const name = `Ada${'a'.repeat(size)}`
        const whole = Buffer.concat(
          sent(Buffer.from(JSON.stringify({ name, guests: 4 }))).map((part) => Buffer.from(part)),
        )
        const steps: Step[] = []
        let from = 0
        for (const { size, pause } of pieces) steps.push(whole.subarray(from, (from += size)), pause)

        const { responses } = await exchange(port, [...steps, whole.subarray(from)], {
          responses: 1,
          timeout: 5000,
        })

        expect(responses).toMatchObject([
          { status: 200, body: expect.stringContaining(` ${name}`) as string },
        ])
      }),
    )
  })

  test.each(bodyFramings)('treats an empty body with $by as no body', async ({ sent }) => {
    const steps = sent(Buffer.alloc(0))

    const { responses } = await exchange(port, steps, { responses: 1, timeout: 5000 })

    expect(responses.map(({ status, body }) => [status, JSON.parse(body) as unknown])).toMatchObject([
      [400, { error: 'Input validation failed' }],
    ])
  })

  test.each([
    { what: 'a malformed request', first: 'BREW /api/status HTTP/1.1', status: 400 },
    { what: 'a request that is too long', first: 'POST /api/reservations HTTP/1.1', status: 413 },
  ])('responds to $what before the rest of the request arrives', async ({ first, status }) => {
    const socket = connect(port, '127.0.0.1')
    socket.write(`${first}\r\nhost: x\r\nconnection: close\r\ncontent-length: 20000000\r\n\r\n`)
    // The client sends the whole request before it reads the response.
    await new Promise((resolve, reject) => {
      socket.once('error', reject)
      socket.write(Buffer.alloc(20_000_000, 'x'), resolve)
    })

    expect(await text(socket)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  })

  test.each(Object.keys(incompleteRequests))(
    'responds to %s within its own timeout, independent of ANSWER_TIMEOUT',
    async (kind) => {
      const server = createApp(service.services)
      Object.assign(server, { headersTimeout: 1200, requestTimeout: 1200 })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      afterAll(() => server.close())
      const sent = createFramingExchange({ kind, ...given })(caller)

      const { responses, closed } = await exchange((server.address() as AddressInfo).port, sent.steps, {
        timeout: 5000,
      })

      expect(responses.map(({ status }) => status)).toEqual([408])
      expect(closed).toBe(true)
    },
  )
})
