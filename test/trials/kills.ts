import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { createInstanceSettings } from './instance-settings.ts'
import { stopUnderJobs } from './job-load.ts'
import { signInAll, startLoad } from './load-generator.ts'
import type { RequestRecord } from './load-request.ts'
import { assertNothingLost, longestDuration, verifyLoad } from './load-verification.ts'
import { type Service, startService } from './service-process.ts'
import { type Report, startDurablePostgres, trial } from './trial.ts'

const KILLS = 20
/** Kills of instances that run jobs. */
const JOB_KILLS = 10

/** Load between two kills: minimum number of answered requests, check interval and time limit in milliseconds. */
const BETWEEN_KILLS = { requests: 500, interval: 1500, timeLimit: 120_000 }

/** The period from the kill of an instance to the end of its restart. `from` and `until` are in epoch milliseconds. */
interface Downtime {
  origin: string
  from: number
  until: number
}

/**
 * Kills the instances in rotation, KILLS times in total. After each kill, restarts the instance with the same settings.
 */
async function killInTurn(
  services: Service[],
  environments: Record<string, string>[],
  runLoad: () => Promise<void>,
) {
  const downtimes: Downtime[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    await runLoad()
    const index = kill % services.length
    const from = Date.now()
    await services[index]?.kill('SIGKILL')
    const service = await startService(environments[index])
    services[index] = service
    downtimes.push({ origin: service.origin, from, until: Date.now() })
  }
  await runLoad()
  return downtimes
}

/** Waits until the instances have answered at least BETWEEN_KILLS.requests further requests. */
async function waitForResponses(entries: readonly RequestRecord[]) {
  const before = entries.length
  const answered = () => entries.slice(before).filter(({ outcome }) => outcome === 'answered').length
  const started = Date.now()
  do {
    await sleep(BETWEEN_KILLS.interval)
    assert.ok(Date.now() - started < BETWEEN_KILLS.timeLimit, 'the service has stopped answering')
  } while (answered() < BETWEEN_KILLS.requests)
}

async function killUnderLoad(report: Report, database: string, environments: Record<string, string>[]) {
  const services = await Promise.all(environments.map((environment) => startService(environment)))
  const origins = services.map(({ origin }) => origin)
  const load = startLoad(origins, await signInAll(services))
  const downtimes = await killInTurn(services, environments, () => waitForResponses(load.entries))
  await load.stop()
  for (const service of services) assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null })

  const isDuringDowntime = ({ origin, endedAt, duration }: RequestRecord) =>
    downtimes.some(
      (downtime) =>
        downtime.origin === origin && endedAt >= downtime.from && endedAt - duration <= downtime.until,
    )
  const outsideDowntime = load.entries.filter((entry) => !isDuringDowntime(entry))
  const figures = {
    instances: services.length,
    kills: KILLS,
    ...(await verifyLoad(load.entries, database)),
    failedElsewhere: outsideDowntime.filter(({ outcome }) => outcome !== 'answered').length,
    // Ignores requests to an instance during its downtime, because an embedded database starts slowly.
    longestWait: longestDuration(outsideDowntime),
    longestStart: Math.max(...downtimes.map(({ from, until }) => until - from)),
  }
  report(figures)
  assertNothingLost(figures)
  assert.equal(figures.failedElsewhere, 0, 'requests failed at an instance that was not killed')
}

await trial('kills', async (report) => {
  const { url } = await startDurablePostgres()
  await killUnderLoad(report, url, await createInstanceSettings(2, { DATABASE_URL: url }))
  const embedded = await createInstanceSettings(1)
  await killUnderLoad(report, join(embedded[0]?.DATA_DIR ?? '', 'db'), embedded)
  const jobs = await startDurablePostgres()
  report(await stopUnderJobs('SIGKILL', JOB_KILLS, 2, { DATABASE_URL: jobs.url }))
  report(await stopUnderJobs('SIGKILL', JOB_KILLS, 1))
})
