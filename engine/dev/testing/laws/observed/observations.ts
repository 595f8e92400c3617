// What a person can observe: the answers of all reads. The laws compare observations of two states of the database.

import { type ChangeInput, type ObservedCall, recordCalls } from '../calls.ts'
import { type AnyCall, type AnyCases, callsOf, createExceptions, type UsedExceptions } from '../cases.ts'
import { type Declared, listOwnProcedures, proceduresOf } from '../procedures.ts'
import { type Connect, explain } from '../running.ts'
import { differences, maskTimes } from '../values.ts'
import type { Person, World, Worlds } from '../worlds.ts'

/** One run of a call: the answers of the procedure, by a label for messages. */
export type Observation = ReadonlyMap<string, readonly ObservedCall[]>

/** A call of the cases, with its procedure. */
export interface CaseCall {
  declared: Declared
  call: AnyCall
  /** The name of the procedure, and the number of the call if there are several. */
  label: string
  change?: ChangeInput
}

/** The reads of the engine that show the data of a person. */
const engineReads: Readonly<Record<string, AnyCall>> = Object.fromEntries(
  ['account.get', 'account.export', 'sessions.list', 'apps.list', 'tokens.list'].map((name) => [
    name,
    (client) => {
      const [resource = '', key = ''] = name.split('.')
      const { [key]: read } =
        (client as Record<string, Record<string, () => Promise<unknown>>>)[resource] ?? {}
      return read ? read() : Promise.resolve()
    },
  ]),
)

export const caseCallsOf = (cases: AnyCases, declared: Declared): CaseCall[] => {
  const { name } = declared
  const calls = callsOf(cases, name)
  return calls.map((call, index) => ({
    declared,
    call,
    label: calls.length > 1 ? `${name} (call ${index + 1})` : name,
  }))
}

/**
 * The calls of the cases, and for a list also its first page of one item: a list that fits in one page counts its rows instead
 * of asking the database for the total.
 */
export const observedCallsOf = (cases: AnyCases, declared: Declared): CaseCall[] => {
  const caseCalls = caseCallsOf(cases, declared)
  if (!declared.isList) return caseCalls
  const change: ChangeInput = (input) => ({ ...(input as object | undefined), limit: 1 })
  return [
    ...caseCalls,
    ...caseCalls.map((caseCall) => ({ ...caseCall, label: `${caseCall.label} (limit 1)`, change })),
  ]
}

/** What the laws of data use: the application with its cases, and the exceptions that were needed. */
export interface Law {
  worlds: Worlds
  cases: AnyCases
  exceptions: UsedExceptions
  /** How people call, if a law does not name another transport. */
  connect: Connect
  /** For each world, what Bob observes differently with the rows of Ada, before any call. */
  baselines: Map<World, readonly AnswerDifference[]>
  /** What each person observes in the restored rows, before any call. */
  untouched: Map<Person, Observation>
}

export const createLaw = (worlds: Worlds, cases: AnyCases, connect: Connect): Law => ({
  worlds,
  cases,
  connect,
  exceptions: createExceptions(cases),
  baselines: new Map(),
  untouched: new Map(),
})

/** Lists the reads that a person can call, with the calls of the cases. */
export function listReads({ worlds: { running }, cases }: Law): CaseCall[] {
  const own = new Set(listOwnProcedures(running.app))
  return proceduresOf(running.app.router).flatMap((declared) => {
    const { name, isStream, isChange, meta } = declared
    if (isStream || isChange || meta.administratorsOnly) return []
    const read = engineReads[name]
    if (read) return [{ declared, call: read, label: name }]
    return own.has(name) ? observedCallsOf(cases, declared) : []
  })
}

/** The person who calls, the rows of the person (`fixture`), and the transport. */
export interface CaseCaller {
  person: Person
  fixture: unknown
  connect?: Connect
}

const unchanged: ChangeInput = (input) => input

/** Runs a call of the cases for a person. */
export async function run(
  { worlds: { running }, ...law }: Law,
  { person, fixture, connect = law.connect }: CaseCaller,
  { declared, call, change: changeOfCase = unchanged }: CaseCall,
  change: ChangeInput = unchanged,
) {
  const client = connect(running, { cookie: person.cookie })
  try {
    return await recordCalls(call, { client, fixture, path: declared.path }, (input, index) =>
      change(changeOfCase(input, index), index),
    )
  } catch (error) {
    throw explain(error, running)
  }
}

/** Calls reads, by default all. */
export async function observe(law: Law, caller: CaseCaller, reads = listReads(law)): Promise<Observation> {
  const answers = await Promise.all(reads.map((read) => run(law, caller, read)))
  return new Map(reads.map(({ label }, index) => [label, answers[index] ?? []]))
}

/** Returns the entry of `untouched`. Observes at the first use. */
export async function observeUntouched(law: Law, caller: CaseCaller) {
  const cached = law.untouched.get(caller.person)
  if (cached) return cached
  await law.worlds.bobFirst.withAda.restore()
  const observed = await observe(law, caller)
  law.untouched.set(caller.person, observed)
  return observed
}

/** A difference of two answers of a procedure. The path begins in the body of the answer. */
export interface AnswerDifference {
  label: string
  path: string
  description: string
  isScalar: boolean
}

/** Lists the differences of two runs of a call. `start` is the beginning of the times that differ between any two runs. */
function compare(
  label: string,
  first: readonly ObservedCall[],
  second: readonly ObservedCall[],
  start: number,
): AnswerDifference[] {
  const mask = (recorded: readonly ObservedCall[]) => recorded.map(({ answer }) => maskTimes(answer, start))
  return differences(mask(first), mask(second)).map(({ path, ...difference }) => ({
    ...difference,
    label,
    // Without the number of the call.
    path: path.replace(/^\*\.?/, '').replace(/^body\.?/, ''),
  }))
}

export const compareObservations = (first: Observation, second: Observation, start: number) =>
  [...first].flatMap(([label, recorded]) => compare(label, recorded, second.get(label) ?? [], start))

/** The name of the procedure, without the number of the call. */
export const nameOf = ({ label }: { label: string }) => label.split(' ', 1)[0] ?? ''

/** Removes the differences that the exceptions `shared` and `volatile` permit. */
export const withoutExceptions = ({ exceptions }: Law, found: readonly AnswerDifference[]) =>
  found.filter(
    (difference) =>
      !exceptions.has('shared', nameOf(difference), difference.path) &&
      !exceptions.has('volatile', nameOf(difference), difference.path),
  )

/** Removes scalar differences that are also differences of two equal runs, for example random ids. */
export const withoutRandom = (found: readonly AnswerDifference[], random: readonly AnswerDifference[]) =>
  found.filter(
    ({ label, path, isScalar }) =>
      !(isScalar && random.some((other) => other.isScalar && other.label === label && other.path === path)),
  )

export const sentenceOf = ({ label, path, description }: AnswerDifference) =>
  `${label}: ${path === '' ? 'the answer' : path} ${description}`
