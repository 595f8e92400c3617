import cluster from 'node:cluster'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

import { AggregatorRegistry, collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

import { isOutage } from '../../db/errors.ts'
import type { StatementObserver } from '../../db/observer.ts'
import type { AttributesOf } from '../context.ts'
import { type LimitName, limits, type Settings } from '../settings.ts'

export type Metrics = ReturnType<typeof createMetrics>

/** In seconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** What the service counts of itself. Every label is one of few: what callers choose never becomes one. */
export function createMetrics(settings: Settings) {
  const registry = new AggregatorRegistry()
  // Series of its own for each worker: a sum would fall when one is replaced, and a fall reads as a fresh start.
  if (cluster.worker) registry.setDefaultLabels({ worker: String(cluster.worker.id) })
  AggregatorRegistry.setRegistries(registry)
  collectDefaultMetrics({ register: registry })
  const named = (name: string, help: string) => ({ name: `tallystick_${name}`, help, registers: [registry] })

  const requests = new Counter({
    ...named('http_requests_total', 'Requests that ended, by operation and status.'),
    labelNames: ['operation', 'status'],
  })
  const durations = new Histogram({
    ...named('http_request_duration_seconds', 'From the head of a request to the end of its answer.'),
    labelNames: ['operation'],
    buckets,
  })
  const underWay = new Gauge(named('http_requests_under_way', 'Requests without an answer yet.'))
  const shed = new Counter({
    ...named(
      'http_requests_shed_total',
      'Requests given up: too many under way, no answer in time (503), or too many incomplete (408).',
    ),
    labelNames: ['reason'],
  })
  const signIns = new Counter({
    ...named('sign_ins_total', 'Codes that were tried, right or wrong.'),
    labelNames: ['outcome'],
  })
  const limited = new Counter({
    ...named('limits_hit_total', 'What was refused because it was done too often, by limit.'),
    labelNames: ['limit'],
  })
  const statements = new Histogram({
    ...named('database_statement_duration_seconds', 'From asking to the answer, by statement.'),
    labelNames: ['statement'],
    buckets,
  })
  const waiting = new Gauge(named('database_statements_under_way', 'Statements without an answer yet.'))
  const failures = new Counter({
    ...named('database_failures_total', 'Statements that failed: no database, or something else.'),
    labelNames: ['reason'],
  })

  // What has not happened yet is nought, not unknown.
  for (const reason of ['full', 'late', 'incomplete']) shed.inc({ reason }, 0)
  for (const outcome of ['accepted', 'refused']) signIns.inc({ outcome }, 0)
  for (const limit of Object.keys(limits)) limited.inc({ limit }, 0)
  for (const reason of ['outage', 'other']) failures.inc({ reason }, 0)

  const watch: StatementObserver = async ({ name }, run) => {
    const end = statements.startTimer({ statement: name })
    waiting.inc()
    try {
      return await run()
    } catch (error) {
      failures.inc({ reason: isOutage(error) ? 'outage' : 'other' })
      throw error
    } finally {
      waiting.dec()
      end()
    }
  }

  return {
    watch,

    request(request: IncomingMessage, response: ServerResponse, attributesOf: AttributesOf) {
      const end = durations.startTimer()
      underWay.inc()
      response.once('close', () => {
        const { operation = 'other', signedIn } = attributesOf(request) ?? {}
        underWay.dec()
        end({ operation })
        requests.inc({ operation, status: response.writableFinished ? response.statusCode : 'aborted' })
        if (signedIn !== undefined) signIns.inc({ outcome: signedIn ? 'accepted' : 'refused' })
      })
    },

    shed: (reason: 'full' | 'late' | 'incomplete') => {
      shed.inc({ reason })
    },

    limited: (limit: LimitName) => {
      limited.inc({ limit })
    },

    serve: () => serveMetrics(settings, () => registry.metrics()),
  }
}

/** Answers for all workers, in the process that started them. */
export function serveWorkersMetrics(settings: Settings) {
  const registry = new AggregatorRegistry()
  return serveMetrics(settings, () => registry.clusterMetrics())
}

/** Answers `GET /metrics`, at an address that is nobody's but the operator's. */
async function serveMetrics({ metricsHost, metricsPort }: Settings, read: () => Promise<string>) {
  const server = createServer(({ method, url }, response) => {
    if (method !== 'GET' || url?.split('?', 1)[0] !== '/metrics') return void response.writeHead(404).end()
    read().then(
      (text) => response.writeHead(200, { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE }).end(text),
      () => response.writeHead(503).end(),
    )
  })
  server.listen(metricsPort, metricsHost)
  await once(server, 'listening')
  return server
}
