import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import postgres from 'postgres'

import type { Scene } from './actors.ts'
import type { Book, Entry } from './checked-client.ts'
import { gather, startCrowd } from './actor-load.ts'
import { makeCuts, type Tally } from './connection-faults.ts'
import { longestWait } from './load-verification.ts'
import { receiveLetters } from './mail-server.ts'
import { startProxy } from './pg-proxy.ts'
import { startService } from './service-process.ts'
import { reckon } from './actor-verification.ts'
import { findPostgres, trial, UNLIMITED } from './trial.ts'

// All in milliseconds.
const ANSWER_TIMEOUT = 10_000
/** ANSWER_TIMEOUT, the second until the service looks for expired requests, and what a busy machine adds. */
const LONGEST = ANSWER_TIMEOUT + 1500
/** How long the cuts may take. */
const MOST = 1_200_000
/** How long people may take to finish what they are doing. */
const END = 60_000
/** After the last cut: until all requests are answered again, and how long the load goes on from then. */
const RECOVERY = 4000
const CALM = 8000

/** Requests that succeed between two cuts, at least: on a slow machine nothing would be finished otherwise. */
const PROGRESS = 3
/** How long a cut waits for them, in milliseconds. */
const STANDSTILL = 15_000
/** How many faults are shown. */
const FAULTS = 20

const { values } = parseArgs({
  options: { seed: { type: 'string' }, cuts: { type: 'string', default: '2000' } },
})
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9))

await trial('cuts', async (tell) => {
  const { url } = await findPostgres()
  const admin = postgres(url, { max: 2, onnotice: () => undefined })
  const proxy = await startProxy(url)
  const letters = await receiveLetters()
  const service = await startService({
    ...UNLIMITED,
    DATABASE_URL: proxy.url,
    SMTP_URL: letters.url,
    TRUSTED_PROXIES: '127.0.0.1',
    ANSWER_TIMEOUT: String(ANSWER_TIMEOUT / 1000),
  })
  const book: Book = { entries: [], succeeded: 0, faults: [], owners: new Map() }
  const scene: Scene = { origin: service.origin, book, letters, steps: { values: [], open: 0 } }
  const people = await gather(scene)
  const crowd = startCrowd(scene, people, seed)
  const resident = [mebibytes(service.resident())]
  const sampling = setInterval(() => resident.push(mebibytes(service.resident())), 1000)

  const tally: Tally = { lost: 0, made: {} }
  let lastCut = Infinity
  const progress = async () => {
    const [before, start] = [book.succeeded, Date.now()]
    while (book.succeeded < before + PROGRESS && Date.now() - start < STANDSTILL) await sleep(5)
  }
  const run = async () => {
    await makeCuts({ proxy, admin }, { seed, many: Number(values.cuts), most: MOST, progress }, tally)
    lastCut = Date.now()
    await sleep(RECOVERY + CALM)
    await Promise.race([crowd.stop(), tooLate(END)])
  }
  const stopped = await Promise.race([run(), crowd.failed, service.ended]).catch((error: unknown) => error)
  clearInterval(sampling)
  await admin.end()

  const { entries, faults } = book
  const refused = entries.filter(({ code }) => code === 'SERVICE_UNAVAILABLE')
  const longest = longestWait(entries)
  const slowest = entries.find(({ took }) => took === longest)
  tell({
    seed,
    cuts: tally.lost,
    ...tally.made,
    requests: entries.length,
    refused: refused.length,
    ...countByOperation(entries.filter(({ code }) => code === 'OK')),
    'accounts deleted': crowd.gone.length,
    faults: faults.length,
    longest: `${longest} ms (${slowest?.operation ?? 'none'}: ${slowest?.code ?? ''})`,
    'resident at the start, at most, at the end': [resident[0], Math.max(...resident), resident.at(-1)].join(
      ' ',
    ),
  })
  if (faults.length > 0) process.stderr.write(`${faults.slice(0, FAULTS).join('\n')}\n`)
  if (stopped instanceof Error) throw stopped
  if (stopped)
    throw new Error(`The service ended with ${JSON.stringify(stopped)}:\n${service.log().slice(-3000)}`)
  assert.equal(faults.length, 0, 'answers were not as they should be')
  const reckoned = await reckon(url, people, crowd.gone, scene)
  tell({ lost: reckoned.lost, doubled: reckoned.doubled, wrong: reckoned.wrong.length })
  assert.deepEqual(reckoned, { lost: 0, doubled: 0, wrong: [] })
  assert.ok(tally.lost >= Number(values.cuts), `only ${tally.lost} connections were cut in ${MOST} ms`)
  assert.ok(longest <= LONGEST, `a request took ${longest} ms`)
  const late = refused.filter(({ at, took }) => at - took > lastCut + RECOVERY)
  assert.deepEqual(countByOperation(late), {}, 'requests were refused long after the last cut')
})

function mebibytes(bytes: number) {
  return Math.round(bytes / 2 ** 20)
}

async function tooLate(time: number) {
  await sleep(time)
  throw new Error(`People did not finish within ${time} ms`)
}

function countByOperation(entries: readonly Entry[]) {
  const counts: Record<string, number> = {}
  for (const { operation } of entries) counts[operation] = (counts[operation] ?? 0) + 1
  return counts
}
