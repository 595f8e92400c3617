import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

import type { RequestRecord } from './load-request.ts'
import { assertNothingLost, verifyLoad } from './load-verification.ts'
import { signInAll, startLoad } from './load-generator.ts'
import { startService } from './service-process.ts'
import { startDurablePostgres, trial, UNLIMITED_RATES } from './trial.ts'

// All in milliseconds.
const RESTARTS = 10
/** How long PostgreSQL stays away, in turn. */
const AWAY = [0, 1000, 4000]
/** How long the load goes on between restarts. */
const PEACE = 6000
/** What is slower is counted as trouble. */
const SLOW = 1000
/** From PostgreSQL being ready again to the end of all trouble, at most. */
const TROUBLE = 3000

await trial('restarts', async (tell) => {
  const database = await startDurablePostgres()
  const service = await startService({ ...UNLIMITED_RATES, DATABASE_URL: database.url })
  const load = startLoad([service.origin], await signInAll([service]))
  const rounds: { ready: number; until: number }[] = []
  await sleep(SLOW)
  for (let restart = 0; restart < RESTARTS; restart++) {
    await database.halt(restart % 2 ? 'SIGQUIT' : 'SIGINT')
    await sleep(AWAY[restart % AWAY.length])
    await database.start()
    const ready = Date.now()
    rounds.push({ ready, until: ready + PEACE - SLOW })
    await sleep(PEACE)
  }
  await load.stop()

  const trouble = load.entries.filter(({ outcome, duration }) => outcome !== 'answered' || duration > SLOW)
  const back = rounds.map((round) => lastOf(trouble, round) - round.ready)
  const figures = await verifyLoad(load.entries, database.url)
  tell({ ...figures, troubleAfter: Math.max(...back) })
  assertNothingLost(figures)
  assert.equal(figures.unreached, 0, 'the service itself was away')
  assert.ok(Math.max(...back) <= TROUBLE, `all worked again after ${back.join(', ')} ms`)
})

/** When the last of what began in a round ended. */
function lastOf(entries: readonly RequestRecord[], { ready, until }: { ready: number; until: number }) {
  const own = entries.filter(({ endedAt, duration }) => endedAt - duration < until && endedAt > ready)
  return Math.max(ready, ...own.map(({ endedAt }) => endedAt))
}
