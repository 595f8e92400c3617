import assert from 'node:assert/strict'

import { eq } from 'drizzle-orm'

import { counter } from '../../db/counter.ts'
import { open } from '../../db/index.ts'
import { notes, shares } from '../../db/notes.ts'
import { tasks } from '../../db/tasks.ts'
import type { Entry, Work } from './load-request.ts'

/** What the database holds of what was asked for. */
async function readKept(databaseUrl: string) {
  const { db, close } = await open(databaseUrl)
  const titles = [
    ...(await db.select({ title: tasks.title }).from(tasks)),
    ...(await db.select({ title: notes.title }).from(notes)),
  ].map(({ title }) => title)
  const described = await db.select({ id: tasks.id, description: tasks.description }).from(tasks)
  const shared = await db
    .select({ title: notes.title })
    .from(shares)
    .innerJoin(notes, eq(notes.id, shares.noteId))
  const [{ count } = { count: NaN }] = await db.select().from(counter)
  await close()
  return {
    titles,
    shared: new Set(shared.map(({ title }) => title)),
    descriptions: new Map<Entry['id'], string | null>(
      described.map(({ id, description }) => [id, description]),
    ),
    count,
  }
}

const readings: readonly Work[] = ['count', 'own', 'export']
const isChange = ({ work }: Entry) => !readings.includes(work)

const highest = (numbers: readonly number[]) => numbers.reduce((most, each) => Math.max(most, each), 0)

export const longestWait = (entries: readonly Pick<Entry, 'took'>[]) =>
  highest(entries.map(({ took }) => took))

/** What a request may take at most, in milliseconds: ANSWER_TIMEOUT, and a second until that is looked for. */
const LONGEST = 16_500

/** Tasks whose description is neither the last one that was acknowledged, nor one of a later request without an answer. */
function countReverted(entries: readonly Entry[], descriptions: ReadonlyMap<Entry['id'], string | null>) {
  const possible = new Map<Entry['id'], (string | null)[]>()
  for (const { work, id, title, outcome } of entries) {
    if (work !== 'match') continue
    const before = outcome === 'answered' ? [] : (possible.get(id) ?? [null])
    possible.set(id, [...before, title])
  }
  return [...possible].filter(([id, texts]) => !texts.includes(descriptions.get(id) ?? null)).length
}

/** Compares what callers were told with what the database holds in the end. */
export async function settle(entries: readonly Entry[], databaseUrl: string) {
  const { titles, shared, descriptions, count } = await readKept(databaseUrl)
  const kept = new Set(titles)
  const isKept = ({ work, title }: Entry) => (work === 'share' ? shared : kept).has(title)
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
      acknowledged.filter((entry) => entry.work !== 'step' && entry.work !== 'match' && !isKept(entry))
        .length +
      countReverted(entries, descriptions) +
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
