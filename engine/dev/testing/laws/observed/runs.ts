// Runs of calls in two states of the database, for the laws of data.

import {
  type CaseCaller,
  compareObservations,
  type AnswerDifference,
  type Law,
  type Observation,
  observe,
  type CaseCall,
  run,
  sentenceOf,
  withoutRandom,
} from './observations.ts'
import type { Snapshot } from '../snapshots.ts'
import type { World } from '../worlds.ts'

export const bobIn = ({ worlds: { bob } }: Law, world: World): CaseCaller => ({
  person: bob,
  fixture: world.bob.fixture,
})
export const adaIn = ({ worlds: { ada } }: Law, world: World): CaseCaller => ({
  person: ada,
  fixture: world.ada.fixture,
})

/** Runs a call, and then observes what the caller sees. A read changes nothing, so that its answer is enough. */
export async function runAndObserve(
  law: Law,
  caller: CaseCaller,
  caseCall: CaseCall,
  change?: Parameters<typeof run>[3],
): Promise<Observation> {
  const recorded = await run(law, caller, caseCall, change)
  const observed = caseCall.declared.isChange ? await observe(law, caller) : []
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

/**
 * Returns the baseline of a world: what Bob observes differently with and without Ada, before any call. Only the laws of the reads
 * report these differences.
 */
export async function findBaseline(law: Law, world: World) {
  const cached = law.baselines.get(world)
  if (cached) return cached
  const observeIn = async ({ restore }: Snapshot) => {
    await restore()
    return observe(law, bobIn(law, world))
  }
  const withoutAda = await observeIn(world.withoutAda)
  const withAda = await observeIn(world.withAda)
  const baseline = compareObservations(withoutAda, withAda, world.start)
  law.baselines.set(world, baseline)
  return baseline
}

/** Removes the baseline from the differences in other reads than the checked call, so that one mistake is reported once. */
export const withoutBaseline = (
  found: readonly AnswerDifference[],
  baseline: readonly AnswerDifference[],
  { label }: CaseCall,
) =>
  found.filter(
    (difference) =>
      difference.label === label ||
      !baseline.some((other) => other.label === difference.label && other.path === difference.path),
  )

export const toSentences = (context: string, found: readonly AnswerDifference[]) =>
  [...new Set(found.map(sentenceOf))].map((sentence) => context + sentence)
