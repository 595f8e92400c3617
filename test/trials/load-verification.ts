import assert from 'node:assert/strict'

import { eq } from 'drizzle-orm'

import { counter } from '../../db/counter.ts'
import { open } from '../../db/index.ts'
import { notes, shares } from '../../db/notes.ts'
import { tasks } from '../../db/tasks.ts'
import type { RequestKind, RequestRecord } from './load-request.ts'

/** Reads the data that `verifyLoad` compares with the recorded requests. */
async function readDatabase(databaseUrl: string) {
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
    descriptions: new Map<RequestRecord['id'], string | null>(
      described.map(({ id, description }) => [id, description]),
    ),
    count,
  }
}

const READS: readonly RequestKind[] = ['readCounter', 'readTask', 'export']
const isChange = ({ kind }: RequestRecord) => !READS.includes(kind)

const highest = (numbers: readonly number[]) =>
  numbers.reduce((maximum, number) => Math.max(maximum, number), 0)

export const longestDuration = (entries: readonly Pick<RequestRecord, 'duration'>[]) =>
  highest(entries.map(({ duration }) => duration))

/**
 * Maximum duration of a request in milliseconds: ANSWER_TIMEOUT, plus the interval at which the service checks for
 * expired requests, plus a margin.
 */
const DURATION_LIMIT = 16_500

/** Counts the tasks that have an outdated description, although a later change of the description was acknowledged. */
function countReverted(
  entries: readonly RequestRecord[],
  descriptions: ReadonlyMap<RequestRecord['id'], string | null>,
) {
  const possible = new Map<RequestRecord['id'], (string | null)[]>()
  for (const { kind, id, title, outcome } of entries) {
    if (kind !== 'updateTask') continue
    const before = outcome === 'answered' ? [] : (possible.get(id) ?? [null])
    possible.set(id, [...before, title])
  }
  return [...possible].filter(([id, texts]) => !texts.includes(descriptions.get(id) ?? null)).length
}

/** Compares the recorded requests with the final state of the database. */
export async function verifyLoad(entries: readonly RequestRecord[], databaseUrl: string) {
  const { titles, shared, descriptions, count } = await readDatabase(databaseUrl)
  const stored = new Set(titles)
  const isStored = ({ kind, title }: RequestRecord) => (kind === 'shareNote' ? shared : stored).has(title)
  const changes = entries.filter(isChange)
  const acknowledged = changes.filter(({ outcome }) => outcome === 'answered')
  const isUnknown = ({ outcome }: RequestRecord) => outcome === 'refused' || outcome === 'broken'
  const increments = acknowledged.filter(({ kind }) => kind === 'increment')
  const values = new Set(increments.map(({ count = NaN }) => count))
  const unknownIncrements = changes.filter((entry) => entry.kind === 'increment' && isUnknown(entry)).length
  const countOf = (outcome: RequestRecord['outcome']) =>
    entries.filter((entry) => entry.outcome === outcome).length
  return {
    requests: entries.length,
    acknowledged: acknowledged.length,
    refused: countOf('refused'),
    broken: countOf('broken'),
    unreached: countOf('unreached'),
    lost:
      acknowledged.filter(
        (entry) => entry.kind !== 'increment' && entry.kind !== 'updateTask' && !isStored(entry),
      ).length +
      countReverted(entries, descriptions) +
      Math.max(0, highest([...values]) - count),
    doubled:
      titles.length -
      stored.size +
      (increments.length - values.size) +
      Math.max(0, count - increments.length - unknownIncrements),
    wrong: countOf('wrong'),
    longestWait: longestDuration(entries),
  }
}

type Result = Pick<Awaited<ReturnType<typeof verifyLoad>>, 'lost' | 'doubled' | 'wrong' | 'longestWait'>

/** Throws if an acknowledged change is lost or doubled, a response was wrong, or a request exceeded the time limit. */
export function assertNothingLost({ lost, doubled, wrong, longestWait }: Result) {
  assert.deepEqual({ lost, doubled, wrong }, { lost: 0, doubled: 0, wrong: 0 })
  assert.ok(longestWait <= DURATION_LIMIT, `a request took ${longestWait} ms`)
}
