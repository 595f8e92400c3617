import { exporter } from '../fixtures/span-exporter.ts'

import { endpoint } from 'tallystick'
import { afterAll, expect, test, vi } from 'vitest'

import { freePort } from '../../dev/testing/postgres.ts'
import { startConsole } from '../fixtures/console.ts'
import { rateLimit, startEndpoints, withEndpoints } from '../fixtures/endpoints-app.ts'
import { PATIENCE } from '../fixtures/patience.ts'
import { visits } from '../library/db.ts'

const count = endpoint(
  { method: 'POST', path: '/hooks/{sender}', body: 'text', rateLimit },
  async ({ context: { db } }) => Response.json(await db.$count(visits)),
)

test('metrics and traces have the name of the endpoint, also of a refused request', async () => {
  const METRICS_PORT = String(await freePort())
  const service = await startEndpoints({ count }, { METRICS_PORT })
  const metrics = await service.services.metrics?.serve()
  afterAll(() => {
    metrics?.close()
  })

  await fetch(`${service.origin}/hooks/ada`, { method: 'POST', body: 'a' })
  await fetch(`${service.origin}/hooks/ada`, { method: 'POST', body: new Uint8Array([0xff]) })
  await fetch(`${service.origin}/hooks/ada`, { method: 'POST', body: new Uint8Array(2 ** 20 + 1) })

  await vi.waitFor(async () => {
    const text = await (await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)).text()
    for (const status of [200, 400, 413])
      expect(text).toContain(`http_requests_total{operation="endpoints.count",status="${status}"} 1`)
  }, PATIENCE)
  const spans = exporter.getFinishedSpans()
  expect(spans.filter(({ name }) => name === 'POST /hooks/{sender}')).toHaveLength(3)
  const call = spans.find(({ name }) => name === 'endpoints.count')
  const server = spans.find((span) => span.spanContext().spanId === call?.parentSpanContext?.spanId)
  expect(server?.attributes).toMatchObject({ 'http.route': '/hooks/{sender}', 'url.path': '/hooks/ada' })
})

test('the console shows the call with its parameters, its status and its statements', async () => {
  const { client, services } = await startConsole({}, withEndpoints({ count }))
  const events = await client.watch()
  await events.next()

  await fetch(`${services.settings.baseUrl}/hooks/ada`, { method: 'POST', body: 'a' })

  expect((await events.next()).value).toMatchObject({
    requests: [
      {
        path: '/hooks/ada',
        operation: 'endpoints.count',
        status: 200,
        calls: [{ operation: 'endpoints.count', input: '{"sender":"ada"}', output: '{"status":200}' }],
        statementCount: 1,
      },
    ],
  })
  await events.return(undefined)
})
