import cluster from 'node:cluster'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { AggregatorRegistry, collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { RateLimit } from 'tallystick-contract'

import { failureReasonOf, failureReasons } from '../db/errors.ts'
import type { StatementObserver } from '../db/connection/observer.ts'
import type { AttributesOf, RequestAttributes } from '../call/context.ts'
import { listen } from '../settings/listen.ts'
import type { Settings } from '../settings/settings.ts'

export type Metrics = ReturnType<typeof createMetrics>

/** Upper bounds of the duration buckets, in seconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** The same for attempts of jobs, which can take minutes. */
const jobBuckets = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600]

/** Creates the Prometheus metrics. No label contains input of callers, so that each label has only few values. */
export function createMetrics(
  settings: Settings,
  {
    id,
    rateLimits,
    jobs,
  }: { id: string; rateLimits: ReadonlyMap<string, RateLimit>; jobs: Readonly<Record<string, unknown>> },
) {
  const registry = new AggregatorRegistry()
  // Each worker has its own series. The sum of all workers would decrease when a worker is replaced, and Prometheus
  // would interpret the decrease as a counter reset.
  if (cluster.worker) registry.setDefaultLabels({ worker: String(cluster.worker.id) })
  AggregatorRegistry.setRegistries(registry)
  collectDefaultMetrics({ register: registry })
  const describe = (name: string, help: string) => ({
    name: `${id.replaceAll('-', '_')}_${name}`,
    help,
    registers: [registry],
  })

  const requests = new Counter({
    ...describe('http_requests_total', 'Finished requests, by operation and status.'),
    labelNames: ['operation', 'status'],
  })
  const durations = new Histogram({
    ...describe(
      'http_request_duration_seconds',
      'Time from the headers of a request to the end of its response, by operation.',
    ),
    labelNames: ['operation'],
    buckets,
  })
  const requestsInProgress = new Gauge(describe('http_requests_under_way', 'Requests in progress.'))
  const shed = new Counter({
    ...describe(
      'http_requests_shed_total',
      'Shed requests, by reason: full (too many requests in progress, 503), late (not answered in time, 503), incomplete (too many incomplete requests, 408).',
    ),
    labelNames: ['reason'],
  })
  const deliveries = new Histogram({
    ...describe(
      'live_delivery_delay_seconds',
      'Time from the moment at which this process notices a change, or opens the stream, to writing the state to a stream, for each delivery.',
    ),
    buckets,
  })
  const signIns = new Counter({
    ...describe('sign_ins_total', 'Sign-in attempts, by outcome.'),
    labelNames: ['outcome'],
  })
  const mails = new Counter({
    ...describe('mails_total', 'E-mails, by outcome: sent (accepted by the mail server) or failed.'),
    labelNames: ['outcome'],
  })
  const exceededLimits = new Counter({
    ...describe('limits_hit_total', 'Calls refused by a rate limit, by limit.'),
    labelNames: ['limit'],
  })
  const attempts = new Counter({
    ...describe(
      'job_attempts_total',
      'Attempts to run a job, by job and outcome: completed, failed (runs again), dead (was the last attempt) or released (the instance stopped).',
    ),
    labelNames: ['job', 'outcome'],
  })
  const attemptDurations = new Histogram({
    ...describe('job_attempt_duration_seconds', 'Time of an attempt to run a job, by job.'),
    labelNames: ['job'],
    buckets: jobBuckets,
  })
  const statements = new Histogram({
    ...describe(
      'database_statement_duration_seconds',
      'Time from sending a statement to its result, by statement.',
    ),
    labelNames: ['statement'],
    buckets,
  })
  const statementsInProgress = new Gauge(describe('database_statements_under_way', 'Statements in progress.'))
  const failures = new Counter({
    ...describe(
      'database_failures_total',
      'Failed statements, by reason: disk_full, read_only, outage (not available, timeout or deadlock) or other.',
    ),
    labelNames: ['reason'],
  })

  // Exports zero for events that have not happened yet, because alerts and rates do not work for a series that does not exist.
  for (const reason of ['full', 'late', 'incomplete']) shed.inc({ reason }, 0)
  for (const outcome of ['accepted', 'refused']) signIns.inc({ outcome }, 0)
  for (const outcome of ['sent', 'failed']) mails.inc({ outcome }, 0)
  for (const limit of rateLimits.keys()) exceededLimits.inc({ limit }, 0)
  for (const job of Object.keys(jobs))
    for (const outcome of ['completed', 'failed', 'dead', 'released']) attempts.inc({ job, outcome }, 0)
  for (const reason of failureReasons) failures.inc({ reason }, 0)

  const observeStatement: StatementObserver = async ({ name }, run) => {
    const end = statements.startTimer({ statement: name })
    statementsInProgress.inc()
    try {
      return await run()
    } catch (error) {
      failures.inc({ reason: failureReasonOf(error) })
      throw error
    } finally {
      statementsInProgress.dec()
      end()
    }
  }

  return {
    observeStatement,

    /** Returns a mailer that counts the e-mails. */
    observeMails:
      <Email>(send: (email: Email) => Promise<void>) =>
      async (email: Email) => {
        try {
          await send(email)
        } catch (error) {
          mails.inc({ outcome: 'failed' })
          throw error
        }
        mails.inc({ outcome: 'sent' })
      },

    request(request: IncomingMessage, response: ServerResponse, attributesOf: AttributesOf) {
      const end = durations.startTimer()
      requestsInProgress.inc()
      response.once('close', () => {
        const { operation = 'other', signedIn } = attributesOf(request) ?? {}
        requestsInProgress.dec()
        end({ operation })
        requests.inc({ operation, status: response.writableFinished ? response.statusCode : 'aborted' })
        if (signedIn !== undefined) signIns.inc({ outcome: signedIn ? 'accepted' : 'refused' })
      })
    },

    /** Counts a call of a batch. The request of the batch is counted by `request`. */
    startCall(attributes: RequestAttributes) {
      const end = durations.startTimer()
      return (status: number) => {
        const { operation = 'other' } = attributes
        end({ operation })
        requests.inc({ operation, status })
      }
    },

    shed: (reason: 'full' | 'late' | 'incomplete') => {
      shed.inc({ reason })
    },

    observeStreams: (count: () => number, isConnected: () => boolean) => {
      const streams = new Gauge({
        ...describe('live_streams', 'Open event streams.'),
        collect: () => {
          streams.set(count())
        },
      })
      const connected = new Gauge({
        ...describe('live_connected', 'Whether changes of other processes arrive: 1, otherwise 0.'),
        collect: () => {
          connected.set(Number(isConnected()))
        },
      })
    },

    /** `since`: when the change was noticed, in milliseconds since the start of the process. */
    delivered: (since: number) => {
      deliveries.observe((performance.now() - since) / 1000)
    },

    observeJob: (job: string, outcome: string, seconds: number) => {
      attempts.inc({ job, outcome })
      attemptDurations.observe({ job }, seconds)
    },

    rateLimitExceeded: ({ name }: RateLimit) => {
      exceededLimits.inc({ limit: name })
    },

    serve: () => serveMetrics(settings, () => registry.metrics()),
  }
}

/** Serves the metrics of all workers, in the primary process of the cluster. */
export function serveClusterMetrics(settings: Settings) {
  const registry = new AggregatorRegistry()
  return serveMetrics(settings, () => registry.clusterMetrics())
}

/** Serves `GET /metrics` on a separate port, so that the operator can make the port unreachable for callers. */
async function serveMetrics({ host, metricsPort }: Settings, read: () => Promise<string>) {
  const server = createServer(({ method, url }, response) => {
    if (method !== 'GET' || url?.split('?', 1)[0] !== '/metrics') return void response.writeHead(404).end()
    read().then(
      (text) => response.writeHead(200, { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE }).end(text),
      () => response.writeHead(503).end(),
    )
  })
  return listen(server, { host, port: metricsPort }, 'METRICS_PORT')
}
