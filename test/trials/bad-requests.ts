import fc from 'fast-check'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'

import { drafts, say } from './request-arbitraries.ts'
import { framed } from './framing.ts'
import { inLanes } from './concurrency.ts'
import type { Caller } from './request-part-arbitraries.ts'
import { readOperations } from './api-operations.ts'
import { settle, stranger } from './test-accounts.ts'
import { startService } from './service-process.ts'
import { findPostgres, trial } from './trial.ts'
import { faultsOf, type Said } from './protocol-checks.ts'
import { talk } from './raw-http.ts'

const THOUSANDS = 20
/** Talks under way at once. Those about HTTP itself wait for limits of time, and cost nothing meanwhile. */
const LANES = { drafts: 16, framings: 200 }
/** More than any limit of the service, in milliseconds. */
const PATIENCE = 45_000
/** How much more memory may be in use at the end than at most after each thousand of the first half. */
const GROWTH = 1.1

const { values } = parseArgs({ options: { seed: { type: 'string' } } })
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9))

await trial('bad requests', async (tell) => {
  const { url } = await findPostgres()
  const service = await startService({ DATABASE_URL: url })
  const port = Number(new URL(service.origin).port)
  const [ada, bob, witness] = [
    await settle(service, 'ada@example.com'),
    await settle(service, 'bob@example.com'),
    await settle(service, 'witness@example.com'),
  ]
  const callers = [ada, bob, stranger()]
  const operations = await readOperations(service.origin)
  const seen = await witness.look()
  const statuses: Record<string, number> = {}
  const faults: string[] = []

  const ask = async (saying: (caller: Caller) => Said, index: number) => {
    const caller = callers[index % callers.length] ?? stranger()
    const secrets = [...callers, witness]
      .filter((other) => other !== caller)
      .flatMap((other) => other.secrets)
    const said = saying(caller)
    const answers = said.isLast ? Infinity : said.due[1]
    const heard = await talk(port, said.steps, { answers, patience: PATIENCE, isHead: said.isHead })
    for (const { status } of heard.answers) statuses[status] = (statuses[status] ?? 0) + 1
    for (const fault of faultsOf(said, heard, secrets))
      faults.push(`${said.kind} ${fault}: ${JSON.stringify([said.steps.map(String), heard]).slice(0, 700)}`)
  }
  const askAll = (many: number, sayings: ((caller: Caller) => Said)[]) =>
    inLanes(many, sayings.entries(), ([index, saying]) => ask(saying, index))

  const framings = askAll(LANES.framings, fc.sample(framed, { seed, numRuns: THOUSANDS * 100 }))
  const megabytes: number[] = []
  for (let thousand = 0; thousand < THOUSANDS; thousand++) {
    const ids = [...ada.ids, ...bob.ids, ...witness.ids]
    const sample = fc.sample(drafts(operations, ids), { seed: seed + thousand, numRuns: 900 })
    await askAll(
      LANES.drafts,
      sample.map((draft) => (caller) => say(draft, caller)),
    )
    await sleep(1000)
    megabytes.push(Math.round(service.resident() / 2 ** 20))
  }
  await framings
  await sleep(1000)
  megabytes.push(Math.round(service.resident() / 2 ** 20))

  const isAlike = isDeepStrictEqual(await witness.look(), seen)
  const failures = service.log().match(/"level":[56]0/g)?.length ?? 0
  tell({ seed, faults: faults.length, failures, ...statuses, resident: megabytes.join(' ') })
  if (faults.length > 0) throw new Error(faults.slice(0, 20).join('\n'))
  if (!isAlike) throw new Error('A good request is answered otherwise than before')
  if (failures > 0) throw new Error('The log tells of failures')
  if ((megabytes.at(-1) ?? NaN) > GROWTH * Math.max(...megabytes.slice(0, THOUSANDS / 2)))
    throw new Error('Memory grew')
  await Promise.all([ada.look(), bob.look()])
})
