// The law of data: what Bob can observe (every read, every error, every topic, the export) does not depend on what Ada has
// or does, except where a declared relation permits it.
// - A case call is one function of the cases, which can call the procedure several times.
// - In the world `bobFirst`, Bob has created his rows before Ada, in `adaFirst` after Ada: an id or an order can show who was first.
//   Each world has the states `withAda` and `withoutAda`.
// - The baseline of a world is what the reads show differently before the case call. It is reported once, not for each case call.

import type { Declared } from '../procedures.ts'
import {
  compareObservations,
  type Law,
  nameOf,
  type Observation,
  observe,
  observedCallsOf,
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
  runAndObserve,
  toSentences,
  withoutBaseline,
} from './runs.ts'
import { leavesOf, toPattern } from '../values.ts'
import type { World } from '../worlds.ts'

/** Lists how the reads of the engine depend on the rows of Ada. */
export async function listDependenciesOfEngine(law: Law) {
  const { bobFirst, adaFirst } = law.worlds
  const found = [...(await findBaseline(law, bobFirst)), ...(await findBaseline(law, adaFirst))]
  return toSentences(
    'With the rows of Ada, ',
    // The cases call the procedures of the application. The other reads are of the engine.
    withoutExceptions(
      law,
      found.filter((difference) => !(nameOf(difference) in law.cases.calls)),
    ),
  )
}

const contextOf = ({ isChange }: Declared, { label }: CaseCall) =>
  isChange ? `With the rows of Ada, Bob calls ${label}. ` : 'With the rows of Ada, '

/** Lists how the answers of Bob's own calls, and what Bob sees afterwards, depend on the rows of Ada. */
export async function listDependencies(law: Law, declared: Declared) {
  const { bobFirst, adaFirst } = law.worlds
  const sentences: string[] = []
  for (const caseCall of observedCallsOf(law.cases, declared))
    for (const world of [bobFirst, adaFirst]) {
      const runIn = (state: 'withAda' | 'withoutAda') => async () => {
        await world[state].restore()
        return runAndObserve(law, bobIn(law, world), caseCall)
      }
      const { before, after, found } = await compareRuns(world.start, runIn('withoutAda'), runIn('withAda'))
      const unexpected = withoutBaseline(found, await findBaseline(law, world), caseCall)
      sentences.push(
        ...toSentences(contextOf(declared, caseCall), withoutExceptions(law, unexpected)),
        // Also in the state without Ada: a value that the process has kept in its memory is in both answers, which are then equal.
        ...[before, after].flatMap((observed) => listIdentities(law, world, caseCall, observed)),
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
  { label }: CaseCall,
  observed: Observation,
) {
  const { ada } = worlds
  const name = nameOf({ label })
  const leaves = (observed.get(label) ?? []).flatMap(({ answer }) => leavesOf(answer.body))
  const pathsWith = (...values: readonly string[]) =>
    leaves
      .filter(({ value }) => typeof value === 'string' && values.some((secret) => value.includes(secret)))
      .map(({ path }) => toPattern(path))
  const identities = pathsWith(ada.id, ada.email).filter((path) => cases.shared?.[name]?.[path] === undefined)
  const texts = pathsWith(world.ada.text).filter((path) => !exceptions.has('shared', name, path))
  return [
    ...identities.map((path) => `${label}: ${path} contains the id or the address of Ada`),
    ...texts.map((path) => `${label}: ${path} contains the text of Ada`),
  ]
}

/** Lists what Bob observes differently after a call of Ada. */
export async function listEffectsOfAda(law: Law, declared: Declared) {
  const world = law.worlds.bobFirst
  const sentences: string[] = []
  for (const caseCall of caseCallsOf(law.cases, declared)) {
    const before = await observeUntouched(law, bobIn(law, world))
    await world.withAda.restore()
    await run(law, adaIn(law, world), caseCall)
    const found = compareObservations(before, await observe(law, bobIn(law, world)), world.start)
    sentences.push(
      ...toSentences(`Ada calls ${caseCall.label}. Bob observes: `, withoutExceptions(law, found)),
    )
  }
  return sentences
}

/** Lists the values that differ between two calls with nothing between them, and that no exception names. */
export async function listVolatile(law: Law) {
  const world = law.worlds.bobFirst
  await world.withAda.restore()
  const first = await observe(law, bobIn(law, world))
  // The export of an account adds an entry to the audit trail, which the next export contains.
  await world.withAda.restore()
  const second = await observe(law, bobIn(law, world))
  // No time is ignored: even the time of a call must not be in an answer, unless an exception names it.
  const found = compareObservations(first, second, Infinity)
  return toSentences(
    'Two calls with nothing between them. ',
    found.filter(
      // An exception is for one value: a list or an object that differs as a whole is always reported.
      (difference) =>
        !difference.isScalar || !law.exceptions.has('volatile', nameOf(difference), difference.path),
    ),
  )
}
