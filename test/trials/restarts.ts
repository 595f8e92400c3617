import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

import type { Entry } from './load-request.ts'
import { assertKept, settle } from './load-verification.ts'
import { signInAll, startLoad } from './load-generator.ts'
import { startService } from './service-process.ts'
import { findPostgres, trial, UNLIMITED } from './trial.ts'

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
  const database = await findPostgres()
  const service = await startService({ ...UNLIMITED, DATABASE_URL: database.url })
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

  const trouble = load.entries.filter(({ outcome, took }) => outcome !== 'answered' || took > SLOW)
  const back = rounds.map((round) => lastOf(trouble, round) - round.ready)
  const figures = await settle(load.entries, database.url)
  tell({ ...figures, troubleAfter: Math.max(...back) })
  assertKept(figures)
  assert.equal(figures.unreached, 0, 'the service itself was away')
  assert.ok(Math.max(...back) <= TROUBLE, `all worked again after ${back.join(', ')} ms`)
})

/** When the last of what began in a round ended. */
function lastOf(entries: readonly Entry[], { ready, until }: { ready: number; until: number }) {
  const own = entries.filter(({ at, took }) => at - took < until && at > ready)
  return Math.max(ready, ...own.map(({ at }) => at))
}
