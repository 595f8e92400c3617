import fc from 'fast-check'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'

import { readOperations } from './api-operations.ts'
import { forEachConcurrently } from './concurrency.ts'
import { framingExchanges } from './framing.ts'
import { type ExpectedExchange, faultsOf } from './protocol-checks.ts'
import { exchange } from '../../engine/test/fixtures/raw-http.ts'
import { invalidRequests, toExchange } from './request-arbitraries.ts'
import type { Caller } from './request-part-arbitraries.ts'
import { startService } from './service-process.ts'
import { createAccount, createAnonymousCaller } from './test-accounts.ts'
import { startDurablePostgres, trial } from './trial.ts'

const THOUSANDS = 20
/**
 * Maximum numbers of concurrent exchanges. The number of exchanges that violate HTTP (`framings`) is higher, because
 * these exchanges mostly wait for timeouts.
 */
const CONCURRENCY = { requests: 16, framings: 200 }
/** Longer than any time limit of the service, in milliseconds. */
const TIMEOUT = 45_000
/** Maximum ratio of the resident memory at the end to the highest resident memory in the first half. */
const MEMORY_GROWTH = 1.1
/** A small heap, because Node otherwise keeps garbage until the heap is larger, which looks like a leak. */
const SMALL_HEAP = { NODE_OPTIONS: '--max-old-space-size=96' }

const { values } = parseArgs({ options: { seed: { type: 'string' } } })
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9))

await trial('bad requests', async (report) => {
  const { url } = await startDurablePostgres()
  const service = await startService({ DATABASE_URL: url, ...SMALL_HEAP })
  const port = Number(new URL(service.origin).port)
  const [ada, bob, control] = [
    await createAccount(service, 'ada@example.com'),
    await createAccount(service, 'bob@example.com'),
    await createAccount(service, 'control@example.com'),
  ]
  // These callers send invalid requests. The account `control` sends the same valid requests before and after the
  // invalid requests. The responses to `control` must not change.
  const callers = [ada, bob, createAnonymousCaller()]
  const operations = await readOperations(service.origin)
  const before = await control.readAll()
  const statuses: Record<string, number> = {}
  const faults: string[] = []

  const send = async (create: (caller: Caller) => ExpectedExchange, index: number) => {
    const caller = callers[index % callers.length] ?? createAnonymousCaller()
    const secrets = [...callers, control]
      .filter((other) => other !== caller)
      .flatMap((other) => other.secrets)
    const expected = create(caller)
    const responses = expected.endsConnection ? Infinity : expected.responses[1]
    const actual = await exchange(port, expected.steps, {
      responses,
      timeout: TIMEOUT,
      isHead: expected.isHead,
    })
    for (const { status } of actual.responses) statuses[status] = (statuses[status] ?? 0) + 1
    for (const fault of faultsOf(expected, actual, secrets))
      faults.push(
        `${expected.kind} ${fault}: ${JSON.stringify([expected.steps.map(String), actual]).slice(0, 700)}`,
      )
  }
  const sendAll = (concurrency: number, exchanges: ((caller: Caller) => ExpectedExchange)[]) =>
    forEachConcurrently(concurrency, exchanges.entries(), ([index, create]) => send(create, index))

  const framings = sendAll(
    CONCURRENCY.framings,
    fc.sample(framingExchanges, { seed, numRuns: THOUSANDS * 100 }),
  )
  const megabytes: number[] = []
  for (let thousand = 0; thousand < THOUSANDS; thousand++) {
    const ids = [...ada.ids, ...bob.ids, ...control.ids]
    const sample = fc.sample(invalidRequests(operations, ids), { seed: seed + thousand, numRuns: 900 })
    await sendAll(
      CONCURRENCY.requests,
      sample.map((request) => (caller) => toExchange(request, caller)),
    )
    await sleep(1000)
    megabytes.push(Math.round(service.resident() / 2 ** 20))
  }
  await framings
  await sleep(1000)
  megabytes.push(Math.round(service.resident() / 2 ** 20))

  const isUnchanged = isDeepStrictEqual(await control.readAll(), before)
  const failures = service.log().match(/"level":[56]0/g)?.length ?? 0
  report({ seed, faults: faults.length, failures, ...statuses, resident: megabytes.join(' ') })
  if (faults.length > 0) throw new Error(faults.slice(0, 20).join('\n'))
  if (!isUnchanged) throw new Error('The responses to valid requests have changed')
  if (failures > 0) throw new Error('The log contains failures')
  if ((megabytes.at(-1) ?? NaN) > MEMORY_GROWTH * Math.max(...megabytes.slice(0, THOUSANDS / 2)))
    throw new Error('Resident memory has grown')
  await Promise.all([ada.readAll(), bob.readAll()])
})
