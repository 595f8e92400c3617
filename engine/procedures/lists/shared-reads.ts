import { unavailable } from 'tallystick-contract/internal'

import type { Context } from '../../call/context.ts'
import { type Count, createOpenCounts } from '../../guard/open-counts.ts'

type IsAbandoned = Context['isAbandoned']

/** Maximum number of calls of one account that have joined a read: each occupies a request that the process
 * can serve (MAX_REQUESTS). */
const MAX_JOINED = 100

/** The calls that have joined a read, by account. */
const joined = createOpenCounts()

/**
 * A read that several callers can share. Calls `begin` when the statement is sent: later callers need a later result. `isAbandoned`
 * returns whether every caller has closed its connection.
 */
export type SharedRead<Page> = (begin: () => void, isAbandoned: IsAbandoned) => Promise<Page>

/** The part of a page that decides whether callers can share the page. */
interface Shareable {
  isLarge: boolean
}

/** Reads a page, or joins an equal read that waits. */
export type Share = <Page extends Shareable>(read: SharedRead<Page>) => Promise<Page>

/**
 * Equal reads that wait share one statement, for example of many connections of one account. A read joins only a read whose
 * statement is not sent yet, so no caller receives a result older than its call. All callers receive the same rows, or the same error.
 *
 * - `key` must contain everything that decides the result, and the account, because a read waits in the queue of its account.
 * - A large page is not shared: many large answers at the same moment would delay other calls. Each caller reads in its own turn.
 * - Throws 503 if MAX_JOINED calls of the account wait for reads of others.
 */
export function createSharedReads() {
  const waiting = new Map<string, { page: Promise<Shareable>; callers: IsAbandoned[] }>()

  return (account: string, key: string, isAbandoned: IsAbandoned): Share =>
    async <Page extends Shareable>(read: SharedRead<Page>) => {
      const found = waiting.get(key)
      if (found) {
        const counts = [[account, MAX_JOINED] satisfies Count]
        if (joined.isFull(counts)) throw unavailable('Too many calls of this account are waiting')
        const leave = joined.occupy(counts)
        found.callers.push(isAbandoned)
        // Reads with the same key have pages of the same type.
        const page = (await found.page.finally(leave)) as Page
        return page.isLarge ? read(() => undefined, isAbandoned) : page
      }
      const callers = [isAbandoned]
      const begin = () => {
        if (waiting.get(key)?.callers === callers) waiting.delete(key)
      }
      const areAbandoned = () => callers.every((isGone) => isGone?.())
      // Also after an error before the statement, nobody can join the read.
      const page = Promise.resolve()
        .then(() => read(begin, areAbandoned))
        .finally(begin)
      waiting.set(key, { page, callers })
      return page
    }
}

/**
 * Returns a text that only equal values have. Undefined if a value is an object, for example a date: objects with the same text can have
 * different values.
 */
export function keyOf(values: readonly unknown[]) {
  if (values.some((value) => typeof value === 'function' || (typeof value === 'object' && value !== null)))
    return undefined
  return JSON.stringify(values.map((value) => [typeof value, String(value)]))
}
