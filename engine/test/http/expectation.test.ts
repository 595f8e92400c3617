import { request } from 'node:http'
import { describe, expect, test } from 'vitest'

import { createRawFetch } from '../fixtures/http.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService()

/**
 * Sends headers with `Expect: 100-continue`, and sends the body only after 100. Returns the statuses of all responses.
 */
const announce = (method: string, path: string, length: number, headers: object, body = '') =>
  new Promise<unknown[]>((resolve, reject) => {
    const statuses: unknown[] = []
    const announced = { 'content-type': 'application/json', 'content-length': length, expect: '100-continue' }
    const sent = request(service.origin + path, { method, headers: { ...announced, ...headers } })
    sent.on('error', reject)
    sent.on('continue', () => {
      statuses.push(100)
      sent.end(body)
    })
    sent.on('response', (response) => {
      response.resume()
      sent.destroy()
      resolve([...statuses, response.statusCode])
    })
    sent.flushHeaders()
  })

describe('a request with Expect: 100-continue', () => {
  test('gets 100 before its body, and then its answer', async () => {
    const body = JSON.stringify({ by: 'Ada' })

    expect(await announce('POST', '/api/visits/add', body.length, {}, body)).toEqual([100, 200])
  })

  test.each([
    ['is too large', 413, '/api/visits/add', 1024 * 1024 + 1, {}],
    ['comes from another site', 403, '/api/shelves', 9, { cookie: 'a=b', origin: 'https://evil.example' }],
    ['has an unreadable address', 400, '/api/%00', 9, {}],
  ])('is refused before its body if it %s', async (_, status, path, length, headers) => {
    expect(await announce('POST', path, length, headers)).toEqual([status])
  })

  test('gets only its answer if it has no body', async () => {
    expect(await announce('GET', '/api/status', 0, {})).toEqual([200])
  })
})

describe('the charset of a body', () => {
  const send = createRawFetch(service)
  const add = async (contentType: string) => {
    const headers = { cookie: await service.signIn(newEmail()), 'content-type': contentType }
    const { status, body } = await send('POST', '/api/shelves', headers, '{"name":"Ä"}')
    return [status, JSON.parse(body.toString()) as unknown]
  }

  test.each(['', '; charset=utf-8', ';charset=UTF-8', '; charset="utf-8"', ' ;x=y; Charset=utf8'])(
    'can be UTF-8: %j',
    async (parameters) => {
      expect(await add(`application/json${parameters}`)).toMatchObject([200, { name: 'Ä' }])
    },
  )

  test.each(['; charset=iso-8859-1', ';charset="utf-16"', '; charset=', '; charset=us-ascii'])(
    'must not be another charset: %j',
    async (parameters) => {
      expect(await add(`application/json${parameters}`)).toMatchObject([
        415,
        { code: 'UNSUPPORTED_MEDIA_TYPE', message: 'The charset of a body must be UTF-8' },
      ])
    },
  )
})
