// Compares and changes values by path, for all laws that compare answers.

/** The keys and indexes that lead to a part of a value. */
export type Path = readonly (string | number)[]

export interface Leaf {
  path: Path
  value: unknown
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null)

const childrenOf = (value: unknown): [string | number, unknown][] | undefined => {
  if (Array.isArray(value)) return [...(value as unknown[]).entries()]
  return isPlainObject(value) ? Object.entries(value) : undefined
}

/** Lists the values that are neither an array nor a plain object. Dates, sets and maps are one leaf. */
export const leavesOf = (value: unknown, path: Path = []): Leaf[] =>
  childrenOf(value)?.flatMap(([key, child]) => leavesOf(child, [...path, key])) ??
  (value === undefined ? [] : [{ path, value }])

/** Returns a copy of a value with another value at a path. */
export function replaceAt(value: unknown, [key, ...rest]: Path, replacement: unknown): unknown {
  if (key === undefined) return replacement
  if (Array.isArray(value)) return value.with(Number(key), replaceAt(value[Number(key)], rest, replacement))
  const object = value as Record<string, unknown>
  return { ...object, [key]: replaceAt(object[key], rest, replacement) }
}

export const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((at, key) => (at as Record<string | number, unknown> | null | undefined)?.[key], value)

/** Identifies a leaf in a map. Values of different types have different keys. */
export const keyOfLeaf = (value: unknown) =>
  value instanceof Date ? `date ${value.getTime()}` : `${typeof value} ${String(value)}`

/** Converts an output to plain objects, arrays and scalars, so that outputs of all protocols can be compared. */
export function toPlain(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  if (value instanceof Set) return [...value].map(toPlain)
  if (value instanceof Map) return [...value].map(toPlain)
  if (Array.isArray(value)) return value.map(toPlain)
  if (isPlainObject(value)) return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, toPlain(v)]))
  return value instanceof URL ? value.href : value
}

/** A difference of two values, at a path. The description says what the second value has. */
export interface Difference {
  path: string
  description: string
  /** Whether both values are scalars, and not parts of lists with different lengths. */
  isScalar: boolean
}

const show = (value: unknown) => {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

/** Joins a path, with `*` for the index of a list. */
export const toPattern = (path: Path) => path.map((key) => (typeof key === 'number' ? '*' : key)).join('.')

const hasSameItems = (first: unknown[], second: unknown[]) => {
  const sorted = (items: unknown[]) => items.map((item) => JSON.stringify(item)).sort()
  return sorted(first).join() === sorted(second).join()
}

/** Lists the differences of two plain values. */
export function differences(first: unknown, second: unknown, path: Path = []): Difference[] {
  if (Object.is(first, second)) return []
  const difference = (description: string, isScalar = false) => [
    { path: toPattern(path), description, isScalar },
  ]
  if (Array.isArray(first) && Array.isArray(second)) {
    if (first.length !== second.length)
      return difference(`has ${second.length} items instead of ${first.length}`)
    const found = first.flatMap((item, index) => differences(item, second[index], [...path, index]))
    return found.length > 0 && hasSameItems(first, second) ? difference('has another order') : found
  }
  if (isPlainObject(first) && isPlainObject(second))
    return [...new Set([...Object.keys(first), ...Object.keys(second)])].flatMap((key) =>
      differences(first[key], second[key], [...path, key]),
    )
  const isScalar = [first, second].every((value) => !childrenOf(value))
  return difference(`is ${show(second)} instead of ${show(first)}`, isScalar)
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d/
const HOUR = 3_600_000

/** Larger numbers are times in milliseconds, others in seconds: 1e11 seconds are the year 5138. */
const MAX_SECONDS = 1e11

/** Returns the time that a value represents, in milliseconds since the Unix epoch. NaN for other values. */
function timeOf(value: unknown) {
  if (typeof value === 'number') return value > MAX_SECONDS ? value : value * 1000
  return typeof value === 'string' && ISO_TIME.test(value) ? Date.parse(value) : NaN
}

/**
 * Replaces the times since `start` with a word, because two runs of the same call happen at different times. `start` is the
 * beginning of a second, because some times are in seconds.
 */
export function maskTimes(value: unknown, start: number): unknown {
  const time = timeOf(value)
  if (time >= start && time < start + HOUR) return '(time of the call)'
  if (Array.isArray(value)) return value.map((item) => maskTimes(item, start))
  if (isPlainObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskTimes(item, start)]))
  return value
}
