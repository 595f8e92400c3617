import type { Promisable } from '@orpc/shared'

const isPromiseLike = <Value>(value: Promisable<Value>): value is PromiseLike<Value> =>
  typeof value === 'object' && value !== null && 'then' in value

/** What is there already is not waited for: each wait costs a call about a microsecond. */
export const after = <Value, Next>(
  value: Value,
  next: (value: Awaited<Value>) => Promisable<Next>,
): Promisable<Next> =>
  isPromiseLike(value) ? Promise.resolve(value).then(next) : next(value as Awaited<Value>)

/** Runs what may fail, now or later, and `fail` in its place where it does. */
export function attempt<Value>(
  run: () => Promisable<Value>,
  fail: (error: unknown) => Promisable<Value>,
): Promisable<Value> {
  try {
    const result = run()
    return isPromiseLike(result) ? result.then(undefined, fail) : result
  } catch (error) {
    return fail(error)
  }
}
