// The law of inputs: no input is ignored.

import type { AnySchema } from '@orpc/contract'
import { z } from 'zod'

import type { ObservedCall } from '../calls.ts'
import type { Declared } from '../procedures.ts'
import { compareObservations, type Law, type Observation, observe, caseCallsOf, run } from './observations.ts'
import { keyOfLeaf, type Leaf, leavesOf, replaceAt, toPattern, valueAt } from '../values.ts'
import { callerOf } from '../worlds.ts'

/** The fields of pages have a law of their own. */
const PAGE_FIELDS = ['limit', 'cursor']

const isPageField = ({ isList }: Declared, path: string) => isList && PAGE_FIELDS.includes(path)

/** Removes the wrappers of a schema, for example `optional` and `default`. */
function unwrap(schema: unknown): unknown {
  // In the pipe of `z.preprocess`, `in` is the function, and `out` the schema.
  if (schema instanceof z.ZodPipe) return unwrap(schema.in instanceof z.ZodTransform ? schema.out : schema.in)
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault
    ? unwrap(schema.unwrap())
    : schema
}

/** Lists the optional fields of a schema, with the fields of its objects. */
function listOptionalFields(schema: unknown, path: readonly string[] = []): string[] {
  const object = unwrap(schema)
  if (!(object instanceof z.ZodObject)) return []
  return Object.entries(object.shape as Record<string, z.ZodType>).flatMap(([key, field]) => [
    ...(field.safeParse(undefined).success ? [[...path, key].join('.')] : []),
    ...listOptionalFields(field, [...path, key]),
  ])
}

/** Lists the optional fields of the input that no call of the cases uses, with the line to add. */
function listUnusedFields(declared: Declared, inputs: readonly unknown[]) {
  const { name, input: schema } = declared
  const isUsed = (field: string) => inputs.some((input) => valueAt(input, field.split('.')) !== undefined)
  const [resource = '', key = ''] = name.split('.')
  return listOptionalFields(schema)
    .filter((field) => !isPageField(declared, field) && !isUsed(field))
    .map(
      (field) =>
        `No call of ${name} uses \`${field}\`. Add a call with it: '${name}': [(…), ({ ${resource} }) => ${resource}.${key}({ …, ${field}: … })]`,
    )
}

const isValid = async (schema: AnySchema | undefined, value: unknown) =>
  !schema || !('issues' in (await schema['~standard'].validate(value)))

/** Lists the values that the schema permits at a path, if the schema names them all: the members of an enumeration. */
async function membersAt(
  schema: AnySchema | undefined,
  input: unknown,
  path: Leaf['path'],
): Promise<unknown[]> {
  // For a value that is no member, such as a symbol, the issue of an enumeration has the members as `values`.
  const result = await schema?.['~standard'].validate(replaceAt(input, path, Symbol('no member')))
  const issues = (result?.issues ?? []) as readonly { values?: unknown[] }[]
  return issues.flatMap(({ values = [] }) => values)
}

/** Values that are similar to a value, and that other schemas accept. */
function similarTo(value: unknown): unknown[] {
  if (typeof value === 'boolean') return [!value]
  if (typeof value === 'number') return [value + 1, value - 1, value / 2, value * 2]
  if (typeof value === 'bigint') return [value + 1n, value - 1n]
  if (value instanceof Date) return [new Date(value.getTime() + DAY)]
  if (value === null) return ['A text', 1, true, new Date()]
  if (typeof value !== 'string') return []
  const time = Date.parse(value)
  const later = Number.isNaN(time) ? undefined : new Date(time + DAY).toISOString()
  return [
    ...(later === undefined ? [] : [later, later.slice(0, value.length)]),
    ...(value.includes('@') ? [`another-${value}`] : []),
    `${value} and more`,
    `${value}x`,
    value.replace(/.$/s, (last) => (last === '1' ? '2' : last === 'a' ? 'b' : /\d/.test(last) ? '1' : 'a')),
    crypto.randomUUID(),
  ]
}

const DAY = 86_400_000

/** Number of values that a law tries, because a value can have the same effect by chance. */
const MAX_ALTERNATIVES = 3

/** Lists other valid values at the place of a leaf. `others` are the inputs of the other calls of the procedure. */
async function listAlternatives(
  { input: schema }: Declared,
  input: unknown,
  { path, value }: Leaf,
  others: readonly unknown[],
): Promise<unknown[]> {
  const candidates = [
    ...(await membersAt(schema, input, path)),
    ...similarTo(value),
    ...others.map((other) => valueAt(other, path)),
  ]
  const valid: unknown[] = []
  for (const candidate of candidates)
    if (
      valid.length < MAX_ALTERNATIVES &&
      candidate !== undefined &&
      keyOfLeaf(candidate) !== keyOfLeaf(value) &&
      (await isValid(schema, replaceAt(input, path, candidate)))
    )
      valid.push(candidate)
  return valid
}

/** Whether the schema permits only one value at the place of a leaf. */
const isLiteral = async ({ input: schema }: Declared, input: unknown, { path }: Leaf) =>
  (await membersAt(schema, input, path)).length === 1

/**
 * Changes each field of the inputs, one at a time. If the call still succeeds, the answer or a later read must differ.
 * Lists the fields without an effect, and the optional fields that no call uses.
 */
export async function listIgnoredInputs(law: Law, declared: Declared) {
  const { worlds, cases, exceptions } = law
  const { name, isChange, meta } = declared
  // One world is enough: only the calls of one person are compared.
  const world = worlds.bobFirst
  const caller = { person: callerOf(worlds, meta), fixture: world.ada.fixture }
  const caseCalls = caseCallsOf(cases, declared)
  const sentences: string[] = []
  const inputs: unknown[] = []

  /** Restores the rows, runs a case call, and returns its answers with what the caller observes later. Omits the inputs, which differ anyway. */
  const runFromStart = async (caseCall: (typeof caseCalls)[number], change?: Parameters<typeof run>[3]) => {
    await world.withAda.restore()
    const recorded = await run(law, caller, caseCall, change)
    const later: Observation = isChange && isSuccess(recorded) ? await observe(law, caller) : new Map()
    return new Map([...later, [caseCall.label, recorded.map(({ answer }) => ({ input: undefined, answer }))]])
  }
  // Records all case calls before the checks, because the input of each is a source of alternatives for the others.
  const recordings = []
  for (const caseCall of caseCalls) {
    await world.withAda.restore()
    const recorded = await run(law, caller, caseCall)
    recordings.push({ caseCall, recorded })
    inputs.push(...recorded.map(({ input }) => input))
  }
  for (const { caseCall, recorded } of recordings) {
    const unchanged = await runFromStart(caseCall)
    let repeated: Awaited<ReturnType<typeof runFromStart>> | undefined
    /** Returns whether another value changes the answer or a later read, or is refused. */
    const hasEffect = async (index: number, { path }: Leaf, value: unknown) => {
      const changed = await runFromStart(caseCall, (given, at) =>
        at === index ? replaceAt(given, path, value) : given,
      )
      if (!isSuccess(changed.get(caseCall.label) ?? [])) return true
      // A second run with the same input shows what differs by chance, for example a new id.
      repeated ??= await runFromStart(caseCall)
      const byChance = compareObservations(unchanged, repeated, world.start)
      return compareObservations(unchanged, changed, world.start).some(
        (difference) =>
          !byChance.some((chance) => chance.label === difference.label && chance.path === difference.path),
      )
    }
    for (const [index, { input }] of recorded.entries())
      for (const leaf of leavesOf(input)) {
        const field = toPattern(leaf.path)
        if (isPageField(declared, field)) continue
        const alternatives = await listAlternatives(declared, input, leaf, inputs)
        const isUsed = await someAsync(alternatives, (value) => hasEffect(index, leaf, value))
        if (isUsed) continue
        if (alternatives.length > 0 && !exceptions.has('unobserved', name, field))
          sentences.push(
            `${caseCall.label}: another value of \`${field}\` changes neither the answer nor a later read`,
          )
        if (alternatives.length === 0 && !(await isLiteral(declared, input, leaf)))
          sentences.push(
            `${caseCall.label}: the laws find no second value for \`${field}\`; add a call with another value`,
          )
      }
  }
  return [...listUnusedFields(declared, inputs), ...sentences]
}

const isSuccess = (recorded: readonly ObservedCall[]) =>
  recorded.every(({ answer: { status } }) => status < 400)

/** Returns whether an item is found. Stops at the first such item. */
async function someAsync<Item>(items: readonly Item[], isFound: (item: Item) => Promise<boolean>) {
  for (const item of items) if (await isFound(item)) return true
  return false
}
