import assert from 'node:assert/strict'

import { counter } from '../../db/counter.ts'
import { open } from '../../db/index.ts'
import { notes } from '../../db/notes.ts'
import { tasks } from '../../db/tasks.ts'
import type { Entry } from './ask.ts'

/** What the database holds of what was asked for. */
async function readKept(databaseUrl: string) {
  const { db, close } = await open(databaseUrl)
  const titles = [
    ...(await db.select({ title: tasks.title }).from(tasks)),
    ...(await db.select({ title: notes.title }).from(notes)),
  ].map(({ title }) => title)
  const [{ count } = { count: NaN }] = await db.select().from(counter)
  await close()
  return { titles, count }
}

const isChange = ({ work }: Entry) => work !== 'count' && work !== 'own'

const highest = (numbers: readonly number[]) => numbers.reduce((most, each) => Math.max(most, each), 0)

export const longestWait = (entries: readonly Entry[]) => highest(entries.map(({ took }) => took))

/** What a request may take at most, in milliseconds: ANSWER_TIMEOUT, and a second until that is looked for. */
const LONGEST = 16_500

/** Compares what callers were told with what the database holds in the end. */
export async function settle(entries: readonly Entry[], databaseUrl: string) {
  const { titles, count } = await readKept(databaseUrl)
  const kept = new Set(titles)
  const changes = entries.filter(isChange)
  const acknowledged = changes.filter(({ outcome }) => outcome === 'answered')
  const isOpen = ({ outcome }: Entry) => outcome === 'refused' || outcome === 'broken'
  const steps = acknowledged.filter(({ work }) => work === 'step')
  const values = new Set(steps.map(({ count = NaN }) => count))
  const openSteps = changes.filter((entry) => entry.work === 'step' && isOpen(entry)).length
  const of = (outcome: Entry['outcome']) => entries.filter((entry) => entry.outcome === outcome).length
  return {
    requests: entries.length,
    acknowledged: acknowledged.length,
    refused: of('refused'),
    broken: of('broken'),
    unreached: of('unreached'),
    lost:
      acknowledged.filter(({ work, title }) => work !== 'step' && !kept.has(title)).length +
      Math.max(0, highest([...values]) - count),
    doubled:
      titles.length -
      kept.size +
      (steps.length - values.size) +
      Math.max(0, count - steps.length - openSteps),
    wrong: of('wrong'),
    longestWait: longestWait(entries),
  }
}

type Settled = Pick<Awaited<ReturnType<typeof settle>>, 'lost' | 'doubled' | 'wrong' | 'longestWait'>

/** Of what was acknowledged nothing is missing and nothing there twice, and nobody waited for ever. */
export function assertKept({ lost, doubled, wrong, longestWait }: Settled) {
  assert.deepEqual({ lost, doubled, wrong }, { lost: 0, doubled: 0, wrong: 0 })
  assert.ok(longestWait <= LONGEST, `somebody waited for ${longestWait} ms`)
}
