// The law of swapped values: if a caller sends a value of another person, the answer is the same as for a value that belongs to nobody.

import type { ObservedCall } from '../calls.ts'
import type { Declared } from '../procedures.ts'
import { type Connect, inProcess } from '../running.ts'
import {
  compareObservations,
  type Law,
  type Observation,
  observe,
  observeUntouched,
  type CaseCall,
  caseCallsOf,
  run,
  withoutExceptions,
} from './observations.ts'
import {
  adaIn,
  bobIn,
  compareRuns,
  findBaseline,
  type Run,
  runAndObserve,
  toSentences,
  withoutBaseline,
} from './runs.ts'
import { keyOfLeaf, leavesOf, type Path, replaceAt, toPattern } from '../values.ts'
import { findCounterparts, type World } from '../worlds.ts'

/** A value of Bob in the input of a call, and a value of Ada in its place. */
interface Swap {
  index: number
  path: Path
  value: unknown
}

function listSwaps(world: World, recorded: readonly ObservedCall[]): Swap[] {
  const counterparts = findCounterparts(world)
  return recorded.flatMap(({ input }, index) =>
    leavesOf(input).flatMap(({ path, value }) =>
      (counterparts.get(keyOfLeaf(value)) ?? []).map((counterpart) => ({ index, path, value: counterpart })),
    ),
  )
}

/** Puts the text or the address of Ada into each text of an input: an answer could tell that Ada has the same text. */
const listTextSwaps = ({ worlds: { ada } }: Law, world: World, recorded: readonly ObservedCall[]): Swap[] =>
  recorded.flatMap(({ input }, index) =>
    leavesOf(input).flatMap(({ path, value }) =>
      typeof value === 'string'
        ? [{ index, path, value: value.includes('@') ? ada.email : world.ada.text }]
        : [],
    ),
  )

const apply =
  ({ index, path, value }: Swap) =>
  (input: unknown, at: number) =>
    at === index ? replaceAt(input, path, value) : input

const answerOf = (observed: Observation, { label }: CaseCall) => observed.get(label)?.at(-1)?.answer

/** A declared action may tell that the item exists: 403 instead of 404. */
const isForbiddenAction = (caseCall: CaseCall, absent: Observation, foreign: Observation) =>
  caseCall.declared.meta.action !== undefined &&
  answerOf(absent, caseCall)?.status === 404 &&
  (answerOf(foreign, caseCall)?.body as { code?: unknown } | undefined)?.code === 'FORBIDDEN'

export interface SwapResult {
  sentences: string[]
  /** Number of swapped values. */
  count: number
  /** Whether a swapped value caused FORBIDDEN. */
  isForbidden: boolean
}

/**
 * Replaces each value of Bob in the input of Bob's calls by the value of Ada, one at a time. The answer must be the same as
 * after the deletion of Ada's account, when nobody has the value, and Ada must observe no change.
 */
export async function checkSwaps(law: Law, declared: Declared, connect: Connect): Promise<SwapResult> {
  // One world is enough: the same call runs with and without Ada.
  const world = law.worlds.bobFirst
  const bob = { ...bobIn(law, world), connect }
  const result: SwapResult = { sentences: [], count: 0, isForbidden: false }
  for (const caseCall of caseCallsOf(law.cases, declared)) {
    await world.withAda.restore()
    const recorded = await run(law, bob, caseCall)
    const swaps = listSwaps(world, recorded)
    result.count += swaps.length
    // A text concerns Ada only by a relation, which Bob may begin: for example by a share with the address of Ada.
    const texts = connect === inProcess ? listTextSwaps(law, world, recorded) : []
    for (const swap of [...swaps, ...texts]) {
      const context = `Bob calls ${caseCall.label} with ${toPattern(swap.path) || 'the input'} of Ada. `
      const runIn = (state: 'withAda' | 'withoutAda') => async () => {
        await world[state].restore()
        return runAndObserve(law, bob, caseCall, apply(swap))
      }
      const compared = await compareRuns(world.start, runIn('withoutAda'), runIn('withAda'))
      const { before: absent, after: foreign, found } = compared
      const isForbidden = isForbiddenAction(caseCall, absent, foreign)
      result.isForbidden ||= isForbidden
      const unexpected = withoutBaseline(found, await findBaseline(law, world), caseCall).filter(
        ({ label }) => !(isForbidden && label === caseCall.label),
      )
      result.sentences.push(...toSentences(context, withoutExceptions(law, unexpected)))
      // A text of Ada may change what Ada observes: Bob may share something with the address of Ada.
      if (declared.isChange && swaps.includes(swap))
        result.sentences.push(...(await listEffectsOnAda(law, context, runIn('withAda'))))
    }
  }
  return result
}

/** Lists what Ada observes differently after a call of Bob. */
async function listEffectsOnAda(law: Law, context: string, callOfBob: Run) {
  const world = law.worlds.bobFirst
  const before = await observeUntouched(law, adaIn(law, world))
  await callOfBob()
  const found = compareObservations(before, await observe(law, adaIn(law, world)), world.start)
  return toSentences(`${context}Ada observes: `, withoutExceptions(law, found))
}
