import type { Promisable } from '@orpc/shared'

/** What is there already is not waited for: each wait costs a call about a microsecond. */
export const after = <Value, Next>(
  value: Value,
  next: (value: Awaited<Value>) => Next,
): Next | Promise<Awaited<Next>> =>
  isPromiseLike(value)
    ? (Promise.resolve(value).then(next) as Promise<Awaited<Next>>)
    : next(value as Awaited<Value>)

const isPromiseLike = <Value>(value: Promisable<Value>): value is PromiseLike<Value> =>
  typeof value === 'object' && value !== null && 'then' in value

/** Runs what may fail, now or later, and `fail` in its place where it does. */
export function attempt<Value>(
  run: () => Promisable<Value>,
  fail: (error: unknown) => Value | Promise<Value>,
): Value | Promise<Value> {
  try {
    const result = run()
    return isPromiseLike(result) ? Promise.resolve(result).catch(fail) : result
  } catch (error) {
    return fail(error)
  }
}
