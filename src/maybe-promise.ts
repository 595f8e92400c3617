import type { Promisable } from '@orpc/shared'

const isPromiseLike = <Value>(value: Promisable<Value>): value is PromiseLike<Value> =>
  typeof value === 'object' && value !== null && 'then' in value

/**
 * Calls `next` with a value, or with the result of a promise. If the value is not a promise, the call is synchronous,
 * because every `await` costs about a microsecond.
 */
export const mapMaybePromise = <Value, Next>(
  value: Value,
  next: (value: Awaited<Value>) => Promisable<Next>,
): Promisable<Next> =>
  isPromiseLike(value) ? Promise.resolve(value).then(next) : next(value as Awaited<Value>)

/** Calls `run`. If `run` throws, or the returned promise rejects, returns the result of `fail(error)` instead. */
export function catchMaybePromise<Value>(
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
