import { exporter } from '../fixtures/span-exporter.ts'

import { SpanStatusCode } from '@opentelemetry/api'
import { expect, onTestFinished, test } from 'vitest'

import { freePort } from '../../dev/testing/postgres.ts'
import { createJobs } from '../../jobs/index.ts'
import * as jobs from './parcels/jobs.ts'
import { databases, startParcels } from './parcels/service.ts'

const until = () => new Date(Date.now() + 3_600_000)

test.each(Object.entries(databases))(
  'each attempt is in the traces, the metrics and the log, on %s',
  async (_, environment) => {
    exporter.reset()
    const METRICS_PORT = String(await freePort())
    const { services, enqueue, close } = await startParcels({ METRICS_PORT, ...environment })
    const metrics = await services.metrics?.serve()
    onTestFinished(async () => {
      metrics?.close()
      await close()
    })
    const lines: unknown[] = []
    const log = services.log.child({})
    log.info = log.warn = log.error = (fields: unknown, message?: string) => lines.push([message, fields])
    const { createWorker } = await createJobs({ ...services, app: { ...services.app, jobs } }, () =>
      Promise.resolve(),
    )

    const ended = await enqueue(jobs.deliver, { label: 'ends' })
    const failed = await enqueue(jobs.deliver, { label: 'fails', then: 'fail' })
    await createWorker({ ...services, log }).runDue(until())

    const spans = exporter.getFinishedSpans().filter(({ name }) => name === 'jobs.deliver')
    // The jobs of one millisecond have no order.
    expect(spans.map(({ status }) => status.code).sort()).toEqual([
      SpanStatusCode.UNSET,
      ...Array.from({ length: 3 }, () => SpanStatusCode.ERROR),
    ])
    const ids = spans.map((span) => span.spanContext().spanId)
    const statements = exporter.getFinishedSpans().filter(({ name }) => name.startsWith('insert'))
    expect(ids).toContain(
      statements.find(({ parentSpanContext }) => parentSpanContext)?.parentSpanContext?.spanId,
    )
    const text = await (await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)).text()
    const counts = ['completed', 'failed', 'dead', 'released'].map((outcome) =>
      Number(new RegExp(`job_attempts_total\\{job="deliver",outcome="${outcome}"\\} (\\d+)`).exec(text)?.[1]),
    )
    expect(counts).toEqual([1, 2, 1, 0])
    expect(text).toMatch(/job_attempt_duration_seconds_count\{job="deliver"\} 4/)
    const fields = { job: 'deliver', duration: expect.any(Number) as number }
    const err = expect.objectContaining({ message: expect.stringContaining('unknown') as string }) as Error
    expect(lines).toEqual(
      expect.arrayContaining([
        ['job completed', { ...fields, id: ended, attempt: 1 }],
        ['job failed; it runs again', { ...fields, id: failed, attempt: 1, err }],
        ['job failed; it runs again', { ...fields, id: failed, attempt: 2, err }],
        [
          'job failed for the last time. Run it again with: tallystick jobs retry',
          { ...fields, id: failed, attempt: 3, err },
        ],
      ]),
    )
  },
)
