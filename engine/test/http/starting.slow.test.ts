import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'

import { createApp } from '../../http/server/app.ts'
import { listenWhileStarting } from '../../http/server/starting.ts'
import { createFetch } from '../fixtures/http.ts'
import { exchange } from '../fixtures/raw-http.ts'
import { startService } from '../fixtures/service.ts'

const { services } = await startService()

const settings = {
  ...services.settings,
  host: '127.0.0.1',
  port: 0,
  trustedOrigins: ['https://app.example'],
}

async function start() {
  const starting = await listenWhileStarting(settings)
  onTestFinished(() => void starting.close())
  const { port } = starting.address() as AddressInfo
  return { starting, port, call: createFetch({ origin: `http://127.0.0.1:${port}` }) }
}

describe('until the database is migrated, the port', () => {
  test('answers liveness checks, and every other request with 503 and Retry-After', async () => {
    const { call } = await start()

    expect(await call('GET', '/api/health/live')).toMatchObject({ status: 200, body: { status: 'ok' } })
    for (const path of ['/api/health/ready', '/api/visits', '/', '/docs', '/api/x', '/mcp', '/metrics']) {
      const { status, headers, body } = await call('GET', path)
      expect({ path, status, after: headers.get('retry-after') }).toEqual({ path, status: 503, after: '1' })
      expect(body).toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
        message: expect.stringContaining('starting'),
      })
    }
    expect(await call('POST', '/rpc/visits/get', {})).toMatchObject({
      status: 503,
      body: { json: { code: 'SERVICE_UNAVAILABLE' } },
    })
  })

  test('answers the preflight of a trusted origin, and refuses a malformed request', async () => {
    const { call, port } = await start()
    const preflight = { origin: 'https://app.example', 'access-control-request-method': 'POST' }

    const { status, headers } = await call('OPTIONS', '/api/visits', undefined, preflight)

    expect([status, headers.get('access-control-allow-origin')]).toEqual([204, 'https://app.example'])
    const { responses } = await exchange(port, ['nonsense\r\n\r\n'], { timeout: 10_000 })
    expect(responses).toMatchObject([{ status: 400, body: expect.stringContaining('BAD_REQUEST') }])
  })

  test('is taken over by the service', async () => {
    const { starting, call } = await start()

    const app = createApp(services).listen(starting)
    await once(app, 'listening')
    onTestFinished(() => {
      app.close()
      app.closeAllConnections()
    })

    expect((await call('GET', '/api/visits')).status).toBe(200)
  })

  test('is reported if another program uses the port', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo

    await expect(listenWhileStarting({ ...settings, port })).rejects.toThrow(
      `127.0.0.1:${port}: another program uses this port. Stop the other program, or set PORT to another port.`,
    )
  })

  test('is reported if this machine does not have the address', async () => {
    await expect(listenWhileStarting({ ...settings, host: '192.0.2.1' })).rejects.toThrow('Set HOST to')
  })
})
