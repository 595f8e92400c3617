import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

import { signInAll, startLoad } from './load-generator.ts'
import type { RequestRecord } from './load-request.ts'
import { assertNothingLost, verifyLoad } from './load-verification.ts'
import { startService } from './service-process.ts'
import { startDurablePostgres, trial, UNLIMITED_RATES } from './trial.ts'

const RESTARTS = 10
// All durations are in milliseconds.
/** Downtimes of PostgreSQL. Successive restarts use these values in rotation. */
const DOWNTIMES = [0, 1000, 4000]
/** Duration of the load between restarts. */
const LOAD_DURATION = 6000
/** Duration above which a request counts as slow. */
const SLOW = 1000
/** Maximum time from the restart of PostgreSQL to the last failed or slow request. */
const RECOVERY_LIMIT = 3000

await trial('restarts', async (report) => {
  const database = await startDurablePostgres()
  const service = await startService({ ...UNLIMITED_RATES, DATABASE_URL: database.url })
  const load = startLoad([service.origin], await signInAll([service]))
  const rounds: { ready: number; until: number }[] = []
  await sleep(SLOW)
  for (let restart = 0; restart < RESTARTS; restart++) {
    await database.halt(restart % 2 ? 'SIGQUIT' : 'SIGINT')
    await sleep(DOWNTIMES[restart % DOWNTIMES.length])
    await database.start()
    const ready = Date.now()
    rounds.push({ ready, until: ready + LOAD_DURATION - SLOW })
    await sleep(LOAD_DURATION)
  }
  await load.stop()

  const failures = load.entries.filter(({ outcome, duration }) => outcome !== 'answered' || duration > SLOW)
  const recoveries = rounds.map((round) => lastOf(failures, round) - round.ready)
  const figures = await verifyLoad(load.entries, database.url)
  report({ ...figures, recovery: Math.max(...recoveries) })
  assertNothingLost(figures)
  assert.equal(figures.unreached, 0, 'the service itself was unreachable')
  assert.ok(
    Math.max(...recoveries) <= RECOVERY_LIMIT,
    `the last failure ended only after ${recoveries.join(', ')} ms`,
  )
})

/**
 * Returns the end time of the last request in `entries` that overlaps a round. If no request overlaps the round,
 * returns the start of the round.
 */
function lastOf(entries: readonly RequestRecord[], { ready, until }: { ready: number; until: number }) {
  const ofRound = entries.filter(({ endedAt, duration }) => endedAt - duration < until && endedAt > ready)
  return Math.max(ready, ...ofRound.map(({ endedAt }) => endedAt))
}
