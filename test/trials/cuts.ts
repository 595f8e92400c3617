import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import postgres from 'postgres'

import { createActors, startActors } from './actor-load.ts'
import { verifyActors } from './actor-verification.ts'
import type { ActorContext } from './actors.ts'
import type { OperationRecord, Recording } from './checked-client.ts'
import { cutConnections, type Tally } from './connection-faults.ts'
import { longestDuration } from './load-verification.ts'
import { startMailServer } from './mail-server.ts'
import { startProxy } from './pg-proxy.ts'
import { startService } from './service-process.ts'
import { startDurablePostgres, trial, UNLIMITED_RATES } from './trial.ts'

// All durations are in milliseconds.
const ANSWER_TIMEOUT = 10_000
/**
 * Maximum duration of a request: ANSWER_TIMEOUT, plus 1 s because the service checks for expired requests every second,
 * plus a margin for a busy machine.
 */
const DURATION_LIMIT = ANSWER_TIMEOUT + 1500
/** Time limit for all connection cuts together. */
const CUT_TIME_LIMIT = 1_200_000
/** Time limit for the actors to finish their last operations. */
const STOP_TIME_LIMIT = 60_000
/** Time after the last cut in which the service may refuse requests. */
const RECOVERY = 4000
/** Duration of the load after RECOVERY. In this time, the service must not refuse requests. */
const AFTER_RECOVERY = 8000

/** Minimum number of successful requests between two cuts, so that operations also complete on a slow machine. */
const MINIMUM_PROGRESS = 3
/** Maximum time to wait for MINIMUM_PROGRESS. After this time, the next cut happens anyway. */
const PROGRESS_TIME_LIMIT = 15_000
const PRINTED_FAULTS = 20

const { values } = parseArgs({
  options: { seed: { type: 'string' }, cuts: { type: 'string', default: '2000' } },
})
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9))

await trial('cuts', async (report) => {
  const { url } = await startDurablePostgres()
  const admin = postgres(url, { max: 2, onnotice: () => undefined })
  const proxy = await startProxy(url)
  const mail = await startMailServer()
  const service = await startService({
    ...UNLIMITED_RATES,
    DATABASE_URL: proxy.url,
    SMTP_URL: mail.url,
    TRUSTED_PROXIES: '127.0.0.1',
    ANSWER_TIMEOUT: String(ANSWER_TIMEOUT / 1000),
  })
  const recording: Recording = { operations: [], succeeded: 0, faults: [], owners: new Map() }
  const context: ActorContext = {
    origin: service.origin,
    recording,
    mail,
    increments: { values: [], unanswered: 0 },
  }
  const actors = await createActors(context)
  const load = startActors(context, actors, seed)
  const resident = [mebibytes(service.resident())]
  const sampling = setInterval(() => resident.push(mebibytes(service.resident())), 1000)

  const tally: Tally = { lost: 0, made: {} }
  let lastCut = Infinity
  const progress = async () => {
    const [before, start] = [recording.succeeded, Date.now()]
    while (recording.succeeded < before + MINIMUM_PROGRESS && Date.now() - start < PROGRESS_TIME_LIMIT)
      await sleep(5)
  }
  const run = async () => {
    await cutConnections(
      { proxy, admin },
      { seed, count: Number(values.cuts), timeLimit: CUT_TIME_LIMIT, progress },
      tally,
    )
    lastCut = Date.now()
    await sleep(RECOVERY + AFTER_RECOVERY)
    await Promise.race([load.stop(), failAfter(STOP_TIME_LIMIT)])
  }
  const stopped = await Promise.race([run(), load.failed, service.ended]).catch((error: unknown) => error)
  clearInterval(sampling)
  await admin.end()

  const { operations, faults } = recording
  const refused = operations.filter(({ code }) => code === 'SERVICE_UNAVAILABLE')
  const longest = longestDuration(operations)
  const slowest = operations.find(({ duration }) => duration === longest)
  report({
    seed,
    cuts: tally.lost,
    ...tally.made,
    requests: operations.length,
    refused: refused.length,
    ...countByOperation(operations.filter(({ code }) => code === 'OK')),
    'accounts deleted': load.deleted.length,
    faults: faults.length,
    longest: `${longest} ms (${slowest?.operation ?? 'none'}: ${slowest?.code ?? ''})`,
    'resident at the start, maximum, at the end': [resident[0], Math.max(...resident), resident.at(-1)].join(
      ' ',
    ),
  })
  if (faults.length > 0) process.stderr.write(`${faults.slice(0, PRINTED_FAULTS).join('\n')}\n`)
  if (stopped instanceof Error) throw stopped
  if (stopped)
    throw new Error(`The service ended with ${JSON.stringify(stopped)}:\n${service.log().slice(-3000)}`)
  assert.equal(faults.length, 0, 'the checks of responses found faults')
  const verified = await verifyActors(url, actors, load.deleted, context)
  report({ lost: verified.lost, doubled: verified.doubled, wrong: verified.wrong.length })
  assert.deepEqual(verified, { lost: 0, doubled: 0, wrong: [] })
  assert.ok(
    tally.lost >= Number(values.cuts),
    `only ${tally.lost} connections were cut in ${CUT_TIME_LIMIT} ms`,
  )
  assert.ok(longest <= DURATION_LIMIT, `a request took ${longest} ms`)
  const late = refused.filter(({ endedAt, duration }) => endedAt - duration > lastCut + RECOVERY)
  assert.deepEqual(countByOperation(late), {}, 'requests were refused after the time for recovery')
})

function mebibytes(bytes: number) {
  return Math.round(bytes / 2 ** 20)
}

async function failAfter(time: number) {
  await sleep(time)
  throw new Error(`The actors did not finish within ${time} ms`)
}

function countByOperation(entries: readonly OperationRecord[]) {
  const counts: Record<string, number> = {}
  for (const { operation } of entries) counts[operation] = (counts[operation] ?? 0) + 1
  return counts
}
