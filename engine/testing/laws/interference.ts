// The law of data: what Bob can observe (every read, every error, every topic, the export) does not depend on what Ada has
// or does, except where a declared relation permits it.

import type { Asked } from './calls.ts'
import type { Declared } from './procedures.ts'
import { type Connect, inProcess } from './running.ts'
import {
  type Calling,
  compareObservations,
  type Found,
  type Law,
  nameOf,
  type Observation,
  observe,
  observedPlaysOf,
  observeUntouched,
  type Play,
  playsOf,
  run,
  sentenceOf,
  withoutExceptions,
  withoutRandom,
} from './observations.ts'
import { leavesOf, keyOfLeaf, type Path, replaceAt, toPattern } from './values.ts'
import { findCounterparts, type World } from './worlds.ts'

const bobIn = ({ worlds: { bob } }: Law, world: World): Calling => ({
  person: bob,
  fixture: world.bob.fixture,
})
const adaIn = ({ worlds: { ada } }: Law, world: World): Calling => ({
  person: ada,
  fixture: world.ada.fixture,
})

/** Runs a call, and then observes what the caller sees. A read changes nothing, so that its answer is enough. */
async function runAndObserve(
  law: Law,
  calling: Calling,
  each: Play,
  change?: Parameters<typeof run>[3],
): Promise<Observation> {
  const asked = await run(law, calling, each, change)
  const observed = each.declared.isChange ? await observe(law, calling) : []
  return new Map([[each.label, asked], ...observed])
}

type Run = () => Promise<Observation>

/**
 * Compares two runs in two states of the database. If they differ, repeats the first run, because random values differ
 * between any two runs.
 */
async function compareRuns(start: number, first: Run, second: Run) {
  const [before, after] = [await first(), await second()]
  const found = compareObservations(before, after, start)
  const random = found.length > 0 ? compareObservations(before, await first(), start) : []
  return { before, after, found: withoutRandom(found, random) }
}

/** What Bob observes differently with and without Ada, before any call. The reads themselves report these differences. */
async function findKnown(law: Law, world: World) {
  const known = law.known.get(world)
  if (known) return known
  const seen = []
  for (const state of [world.withoutAda, world.withAda]) {
    await state.restore()
    seen.push(await observe(law, bobIn(law, world)))
  }
  const [without = new Map<string, Asked[]>(), withAda = new Map<string, Asked[]>()] = seen
  const found = compareObservations(without, withAda, world.start)
  law.known.set(world, found)
  return found
}

const withoutKnown = (found: readonly Found[], known: readonly Found[], { label }: Play) =>
  found.filter(
    (each) =>
      each.label === label || !known.some((other) => other.label === each.label && other.path === each.path),
  )

/** Lists how the reads of the engine depend on the rows of Ada. */
export async function listKnownOfEngine(law: Law) {
  const { bobFirst, adaFirst } = law.worlds
  const found = [...(await findKnown(law, bobFirst)), ...(await findKnown(law, adaFirst))]
  return toSentences(
    'With the rows of Ada, ',
    found.filter((each) => !(nameOf(each) in law.cases.calls)),
  )
}

const toSentences = (context: string, found: readonly Found[]) =>
  [...new Set(found.map(sentenceOf))].map((sentence) => context + sentence)

const contextOf = ({ isChange }: Declared, { label }: Play) =>
  isChange ? `With the rows of Ada, Bob calls ${label}. ` : 'With the rows of Ada, '

/** Lists how the answers of Bob's own calls, and what Bob sees afterwards, depend on the rows of Ada. */
export async function listDependencies(law: Law, declared: Declared) {
  const { bobFirst, adaFirst } = law.worlds
  const sentences: string[] = []
  for (const each of observedPlaysOf(law.cases, declared))
    for (const world of [bobFirst, adaFirst]) {
      const runIn = (state: 'withAda' | 'withoutAda') => async () => {
        await world[state].restore()
        return runAndObserve(law, bobIn(law, world), each)
      }
      const { before, after, found } = await compareRuns(world.start, runIn('withoutAda'), runIn('withAda'))
      const unknown = withoutKnown(found, await findKnown(law, world), each)
      sentences.push(
        ...toSentences(contextOf(declared, each), withoutExceptions(law, unknown)),
        // Also without Ada: a value in the memory of the process is the same in both states.
        ...[before, after].flatMap((observed) => listIdentities(law, world, each, observed)),
      )
    }
  return [...new Set(sentences)]
}

/**
 * Lists where the answers of a call contain the id, the address or the text of Ada. An exception must name the very path of an
 * id or an address.
 */
function listIdentities(
  { worlds, cases, exceptions }: Law,
  world: World,
  { label }: Play,
  observed: Observation,
) {
  const { ada } = worlds
  const name = nameOf({ label })
  const leaves = (observed.get(label) ?? []).flatMap(({ answer }) => leavesOf(answer.body))
  const pathsWith = (...values: readonly string[]) =>
    leaves
      .filter(({ value }) => typeof value === 'string' && values.some((each) => value.includes(each)))
      .map(({ path }) => toPattern(path))
  const identities = pathsWith(ada.id, ada.email).filter((path) => cases.shared?.[name]?.[path] === undefined)
  const texts = pathsWith(world.ada.text).filter((path) => !exceptions.has('shared', name, path))
  return [
    ...identities.map((path) => `${label}: ${path} contains the id or the address of Ada`),
    ...texts.map((path) => `${label}: ${path} contains the text of Ada`),
  ]
}

/** A value of Bob in the input of a call, and a value of Ada in its place. */
interface Swap {
  index: number
  path: Path
  value: unknown
}

function listSwaps(world: World, asked: readonly Asked[]): Swap[] {
  const counterparts = findCounterparts(world)
  return asked.flatMap(({ input }, index) =>
    leavesOf(input).flatMap(({ path, value }) =>
      (counterparts.get(keyOfLeaf(value)) ?? []).map((counterpart) => ({ index, path, value: counterpart })),
    ),
  )
}

/** Puts the text or the address of Ada into each text of an input: an answer could tell that Ada has the same text. */
const listTextSwaps = ({ worlds: { ada } }: Law, world: World, asked: readonly Asked[]): Swap[] =>
  asked.flatMap(({ input }, index) =>
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

const answerOf = (observed: Observation, { label }: Play) => observed.get(label)?.at(-1)?.answer

/** A declared action may tell that the item exists: 403 instead of 404. */
const isForbiddenAction = (each: Play, absent: Observation, foreign: Observation) =>
  each.declared.meta.action !== undefined &&
  answerOf(absent, each)?.status === 404 &&
  (answerOf(foreign, each)?.body as { code?: unknown } | undefined)?.code === 'FORBIDDEN'

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
  const world = law.worlds.bobFirst
  const bob = { ...bobIn(law, world), connect }
  const result: SwapResult = { sentences: [], count: 0, isForbidden: false }
  for (const each of playsOf(law.cases, declared)) {
    await world.withAda.restore()
    const asked = await run(law, bob, each)
    const swaps = listSwaps(world, asked)
    result.count += swaps.length
    // A text concerns Ada only by a relation, which Bob may begin: for example by a share with the address of Ada.
    const texts = connect === inProcess ? listTextSwaps(law, world, asked) : []
    for (const swap of [...swaps, ...texts]) {
      const context = `Bob calls ${each.label} with ${toPattern(swap.path) || 'the input'} of Ada. `
      const runIn = (state: 'withAda' | 'withoutAda') => async () => {
        await world[state].restore()
        return runAndObserve(law, bob, each, apply(swap))
      }
      const { before, after, found } = await compareRuns(world.start, runIn('withoutAda'), runIn('withAda'))
      const isForbidden = isForbiddenAction(each, before, after)
      result.isForbidden ||= isForbidden
      const unexpected = withoutKnown(found, await findKnown(law, world), each).filter(
        ({ label }) => !(isForbidden && label === each.label),
      )
      result.sentences.push(...toSentences(context, withoutExceptions(law, unexpected)))
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

/** Lists what Bob observes differently after a call of Ada. */
export async function listEffectsOfAda(law: Law, declared: Declared) {
  const world = law.worlds.bobFirst
  const sentences: string[] = []
  for (const each of playsOf(law.cases, declared)) {
    const before = await observeUntouched(law, bobIn(law, world))
    await world.withAda.restore()
    await run(law, adaIn(law, world), each)
    const found = compareObservations(before, await observe(law, bobIn(law, world)), world.start)
    sentences.push(...toSentences(`Ada calls ${each.label}. Bob observes: `, withoutExceptions(law, found)))
  }
  return sentences
}

/** Lists the values that differ between two calls with nothing between them, and that no exception names. */
export async function listVolatile(law: Law) {
  const world = law.worlds.bobFirst
  await world.withAda.restore()
  const first = await observe(law, bobIn(law, world))
  // Because the export of an account adds an entry to the next export.
  await world.withAda.restore()
  const second = await observe(law, bobIn(law, world))
  const found = compareObservations(first, second, Infinity)
  return toSentences(
    'Two calls with nothing between them. ',
    found.filter((each) => !each.isScalar || !law.exceptions.has('volatile', nameOf(each), each.path)),
  )
}
