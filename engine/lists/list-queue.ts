import { LRUCache } from 'lru-cache'

import { type SizedRow, totalBytes } from '../db/pagination.ts'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import { networkOf } from '../guard/networks.ts'
import { limitConcurrency } from './concurrency.ts'

/** Size above which a list is large, in bytes of text. A large list takes some milliseconds of CPU time. */
const LARGE_LIST_BYTES = 64 * 1024

const MINUTE = 60_000

/** Maximum number of lists of one account that wait. */
const MAX_WAITING = 100

const limitPerAccount = limitConcurrency(2, MAX_WAITING)
const limitApps = limitConcurrency(1, MAX_WAITING)
const limitLargeLists = limitConcurrency(1)

/**
 * Accounts that received a large list within the last minute. The next list of such an account is probably large, too.
 */
const accountsWithLargeLists = new LRUCache<string, true>({ max: 10_000, ttl: MINUTE })

/** Waits for the turn of large lists and slow statements: one at a time in the process. */
export const queueSlowRead = <Result>(read: () => Promise<Result>, isAbandoned?: () => boolean) =>
  limitLargeLists('all accounts', read, isAbandoned)

/** The caller of a list. A caller of a public list has no account. */
export type ListReader = Pick<Context, 'address' | 'isAbandoned'> &
  Pick<Partial<Caller>, 'scopes'> & { user?: Pick<Caller['user'], 'id'> }

/**
 * Fair queue for reading lists:
 * - Each account reads at most two lists at the same time, so that many list calls of one account do not delay other
 *   accounts. All apps with an access token of the account read one of these lists, so that the person can always read.
 * - All accounts with large lists together read only one list at a time, so that the process can handle other calls
 *   between two large lists. Slow lists, such as searches, wait for the same turn.
 * - Callers of public lists, which have no account, are counted by network.
 * - A list is not read if its client has closed the connection.
 */
export function queueListRead<Row>(
  { user, address, scopes, isAbandoned }: ListReader,
  read: () => Promise<SizedRow<Row>[]>,
  isSlow = false,
) {
  const id = user?.id ?? networkOf(address?.()) ?? 'this process'
  const readInTurn = () =>
    limitPerAccount(
      id,
      async () => {
        const rows = await (isSlow || accountsWithLargeLists.has(id)
          ? queueSlowRead(read, isAbandoned)
          : read())
        if (totalBytes(rows) > LARGE_LIST_BYTES) accountsWithLargeLists.set(id, true)
        return rows
      },
      isAbandoned,
    )
  return scopes ? limitApps(id, readInTurn, isAbandoned) : readInTurn()
}
