import { unavailable } from 'tallystick-contract/internal'

import type { Context } from '../../call/context.ts'
import { type Count, createOpenCounts } from '../../guard/open-counts.ts'

type IsAbandoned = Context['isAbandoned']

/** Maximum number of calls of one account that have joined a read: each occupies one of MAX_REQUESTS. */
const MAX_JOINED = 100

/** The calls that have joined a read, by account. */
const joined = createOpenCounts()

/**
 * A read that several callers can share. Calls `begin` when the statement is sent: later callers need a later result. `isAbandoned`
 * returns whether every caller has closed its connection.
 */
export type SharedRead<Result> = (begin: () => void, isAbandoned: IsAbandoned) => Promise<Result>

/**
 * Equal reads that wait share one statement, for example of many connections of one account. A read joins only a read whose
 * statement is not sent yet, so no caller receives a result older than its call. `key` must contain everything that decides the result,
 * and the account, because a read waits in the queue of its account. All callers receive the same rows, and the same error. A large result is not shared: many large answers
 * at the same moment would delay other calls, so each caller then reads in its own turn. Throws 503 if
 * MAX_JOINED calls of the account wait for reads of others.
 */
export function createSharedReads<Result extends { isLarge: boolean }>() {
  const waiting = new Map<string, { result: Promise<Result>; callers: IsAbandoned[] }>()

  return async (
    account: string,
    key: string,
    read: SharedRead<Result>,
    isAbandoned: IsAbandoned,
  ): Promise<Result> => {
    const found = waiting.get(key)
    if (found) {
      const counts = [[account, MAX_JOINED] satisfies Count]
      if (joined.isFull(counts)) throw unavailable('Too many calls of this account are waiting')
      const leave = joined.occupy(counts)
      found.callers.push(isAbandoned)
      const result = await found.result.finally(leave)
      return result.isLarge ? read(() => undefined, isAbandoned) : result
    }
    const callers = [isAbandoned]
    const begin = () => {
      if (waiting.get(key)?.callers === callers) waiting.delete(key)
    }
    const areAbandoned = () => callers.every((isGone) => isGone?.())
    // A read that fails before its statement does not wait any longer, either.
    const result = Promise.resolve()
      .then(() => read(begin, areAbandoned))
      .finally(begin)
    waiting.set(key, { result, callers })
    return result
  }
}

/**
 * Returns a text that only equal values have. Undefined if a value is an object, for example a date: a value of the input can have any
 * class, and only the class knows whether two of its objects are equal.
 */
export function keyOf(values: readonly unknown[]) {
  if (values.some((value) => typeof value === 'function' || (typeof value === 'object' && value !== null)))
    return undefined
  return JSON.stringify(values.map((value) => [typeof value, String(value)]))
}
