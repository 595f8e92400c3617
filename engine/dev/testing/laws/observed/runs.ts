// Runs of calls in two states of the database, for the laws of data.

import type { ObservedCall } from '../calls.ts'
import {
  type Calling,
  compareObservations,
  type Found,
  type Law,
  type Observation,
  observe,
  type CaseCall,
  run,
  sentenceOf,
  withoutRandom,
} from './observations.ts'
import type { World } from '../worlds.ts'

export const bobIn = ({ worlds: { bob } }: Law, world: World): Calling => ({
  person: bob,
  fixture: world.bob.fixture,
})
export const adaIn = ({ worlds: { ada } }: Law, world: World): Calling => ({
  person: ada,
  fixture: world.ada.fixture,
})

/** Runs a call, and then observes what the caller sees. A read changes nothing, so that its answer is enough. */
export async function runAndObserve(
  law: Law,
  calling: Calling,
  caseCall: CaseCall,
  change?: Parameters<typeof run>[3],
): Promise<Observation> {
  const recorded = await run(law, calling, caseCall, change)
  const observed = caseCall.declared.isChange ? await observe(law, calling) : []
  return new Map([[caseCall.label, recorded], ...observed])
}

export type Run = () => Promise<Observation>

/**
 * Compares two runs in two states of the database. If they differ, repeats the first run, because random values differ
 * between any two runs.
 */
export async function compareRuns(start: number, first: Run, second: Run) {
  const [before, after] = [await first(), await second()]
  const found = compareObservations(before, after, start)
  const random = found.length > 0 ? compareObservations(before, await first(), start) : []
  return { before, after, found: withoutRandom(found, random) }
}

/** What Bob observes differently with and without Ada, before any call. Only the laws of the reads report these differences. */
export async function findKnown(law: Law, world: World) {
  const cached = law.known.get(world)
  if (cached) return cached
  const seen = []
  for (const state of [world.withoutAda, world.withAda]) {
    await state.restore()
    seen.push(await observe(law, bobIn(law, world)))
  }
  const [without = new Map<string, ObservedCall[]>(), withAda = new Map<string, ObservedCall[]>()] = seen
  const found = compareObservations(without, withAda, world.start)
  law.known.set(world, found)
  return found
}

/** Removes known differences in other reads than the checked call, so that one mistake is reported once. */
export const withoutKnown = (found: readonly Found[], known: readonly Found[], { label }: CaseCall) =>
  found.filter(
    (difference) =>
      difference.label === label ||
      !known.some((other) => other.label === difference.label && other.path === difference.path),
  )

export const toSentences = (context: string, found: readonly Found[]) =>
  [...new Set(found.map(sentenceOf))].map((sentence) => context + sentence)
