import { expect, test, vi } from 'vitest'

import { serveWithLog } from '../fixtures/logged-server.ts'
import { startService } from '../fixtures/service.ts'

const TRUSTED = 'https://app.example'
const { services } = await startService({ TRUSTED_ORIGINS: TRUSTED })

/** Starts an HTTP server with its own log. `warnings` waits for the request to end, and returns the logged warnings. */
async function startWithLog(production = false) {
  const settings = { ...services.settings, production }
  const { lines, origin } = await serveWithLog({ ...services, settings }, 'info')

  return async (path: string, headers: Record<string, string>, method = 'GET') => {
    lines.length = 0
    await fetch(origin + path, { method, headers })
    await vi.waitFor(
      () => {
        expect(lines.join('')).toContain('"responseTime"')
      },
      { timeout: 20_000, interval: 1 },
    )
    return lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ level }) => level === 'warn' || level === 40)
  }
}

test.each([
  ['a request', 'GET', {}],
  ['a preflight', 'OPTIONS', { 'access-control-request-method': 'POST' }],
  ['a change with a cookie', 'POST', { cookie: 'a=b' }],
])('the log names the origin of %s, once, and the setting that allows it', async (_, method, headers) => {
  const warnings = await startWithLog()
  const origin = 'http://localhost:5173'

  const first = await warnings('/api/visits', { ...headers, origin }, method)
  const second = await warnings('/api/visits', { ...headers, origin }, method)

  expect(first).toMatchObject([
    {
      origin,
      setting: `TRUSTED_ORIGINS=${TRUSTED},${origin}`,
      msg: expect.stringMatching(/not trusted.*If a proxy .* set BASE_URL to this origin instead$/),
    },
  ])
  expect(second).toEqual([])
})

test.each([
  ['a trusted origin', '/api/visits', { origin: TRUSTED }],
  ['the origin of the service', '/api/visits', { origin: 'http://localhost:3000' }],
  ['a page of the service', '/api/visits', { origin: 'http://a.example', 'sec-fetch-site': 'same-origin' }],
  ['an endpoint for every origin', '/.well-known/jwks.json', { origin: 'http://a.example' }],
  ['a client without an origin', '/api/visits', {}],
  ['a page without an origin', '/api/visits', { origin: 'null' }],
  ['a text that is no origin', '/api/visits', { origin: 'http://a.example/path' }],
  ['a very long origin', '/api/visits', { origin: `http://${'a.'.repeat(100)}example` }],
])('the log has no warning about %s', async (_, path, headers) => {
  const warnings = await startWithLog()

  expect(await warnings(path, headers as Record<string, string>)).toEqual([])
})

test('the log names at most twenty origins', async () => {
  const warnings = await startWithLog()
  let count = 0

  for (let port = 1; port <= 25; port++)
    count += (await warnings('/api/visits', { origin: `http://localhost:${port}` })).length

  expect(count).toBe(20)
})

test('the log of production names no origin', async () => {
  const warnings = await startWithLog(true)

  expect(await warnings('/api/visits', { origin: 'http://localhost:5173' })).toEqual([])
})
