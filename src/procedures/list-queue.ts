import { LRUCache } from 'lru-cache'

import { type SizedRow, totalBytes } from '../../db/pages.ts'
import { limitConcurrency } from './concurrency.ts'

/** Size above which a list is large, in bytes of text. A large list takes some milliseconds of CPU time. */
const LARGE_LIST_BYTES = 64 * 1024

const MINUTE = 60_000

const limitPerAccount = limitConcurrency(2)
const limitLargeLists = limitConcurrency(1)

/**
 * Accounts that received a large list within the last minute. The next list of such an account is probably large, too.
 */
const accountsWithLargeLists = new LRUCache<string, true>({ max: 10_000, ttl: MINUTE })

/**
 * Fair queue for reading lists:
 * - Each account reads at most two lists at the same time, so that many list calls of one account do not delay other
 *   accounts.
 * - All accounts with large lists together read only one list at a time, so that the process can handle other calls
 *   between two large lists.
 */
export const queueListRead = <Row>(userId: string, read: () => Promise<SizedRow<Row>[]>) =>
  limitPerAccount(userId, async () => {
    const rows = await (accountsWithLargeLists.has(userId) ? limitLargeLists('all accounts', read) : read())
    if (totalBytes(rows) > LARGE_LIST_BYTES) accountsWithLargeLists.set(userId, true)
    return rows
  })
