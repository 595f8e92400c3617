import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import type { RequestRecord } from './load-request.ts'
import { createInstanceSettings } from './instance-settings.ts'
import { assertNothingLost, longestDuration, verifyLoad } from './load-verification.ts'
import { signInAll, startLoad } from './load-generator.ts'
import { type Service, startService } from './service-process.ts'
import { startDurablePostgres, type Report, trial } from './trial.ts'

const KILLS = 20

/** How much is answered between kills, and how long that takes, at least and at most, in milliseconds. */
const PEACE = { requests: 500, time: 1500, most: 120_000 }

/** When an instance was away. */
interface Absence {
  origin: string
  from: number
  until: number
}

/** Kills one instance after another, and starts each again as it was. */
async function killInTurn(
  services: Service[],
  environments: Record<string, string>[],
  peace: () => Promise<void>,
) {
  const absences: Absence[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    await peace()
    const index = kill % services.length
    const from = Date.now()
    await services[index]?.kill('SIGKILL')
    const service = await startService(environments[index])
    services[index] = service
    absences.push({ origin: service.origin, from, until: Date.now() })
  }
  await peace()
  return absences
}

/** Lets the load go on for a while. */
async function answering(entries: readonly RequestRecord[]) {
  const before = entries.length
  const answered = () => entries.slice(before).filter(({ outcome }) => outcome === 'answered').length
  const started = Date.now()
  do {
    await sleep(PEACE.time)
    assert.ok(Date.now() - started < PEACE.most, 'it does not answer any more')
  } while (answered() < PEACE.requests)
}

async function killUnderLoad(tell: Report, database: string, environments: Record<string, string>[]) {
  const services = await Promise.all(environments.map((environment) => startService(environment)))
  const origins = services.map(({ origin }) => origin)
  const load = startLoad(origins, await signInAll(services))
  const absences = await killInTurn(services, environments, () => answering(load.entries))
  await load.stop()
  for (const service of services) assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null })

  const isExcused = ({ origin, endedAt, duration }: RequestRecord) =>
    absences.some(
      (absence) =>
        absence.origin === origin && endedAt >= absence.from && endedAt - duration <= absence.until,
    )
  const unexcused = load.entries.filter((entry) => !isExcused(entry))
  const figures = {
    instances: services.length,
    kills: KILLS,
    ...(await verifyLoad(load.entries, database)),
    failedElsewhere: unexcused.filter(({ outcome }) => outcome !== 'answered').length,
    // Of those that are there: an embedded database is slow to start.
    longestWait: longestDuration(unexcused),
    longestStart: Math.max(...absences.map(({ from, until }) => until - from)),
  }
  tell(figures)
  assertNothingLost(figures)
  assert.equal(figures.failedElsewhere, 0, 'an instance failed that was not killed')
}

await trial('kills', async (tell) => {
  const { url } = await startDurablePostgres()
  await killUnderLoad(tell, url, await createInstanceSettings(2, { DATABASE_URL: url }))
  const embedded = await createInstanceSettings(1)
  await killUnderLoad(tell, join(embedded[0]?.DATA_DIR ?? '', 'db'), embedded)
})
