import { LRUCache } from 'lru-cache'

import { type SizedRow, totalBytes } from '../../db/pagination.ts'
import type { Caller } from '../../call/caller.ts'
import type { Context } from '../../call/context.ts'
import { networkOf } from '../../guard/networks.ts'
import { limitConcurrency } from '../../guard/concurrency.ts'
import { createTurns } from './turns.ts'

/** Size above which a list is large, in bytes of text. A large list takes some milliseconds of CPU time. */
export const LARGE_LIST_BYTES = 64 * 1024

const MINUTE = 60_000

/** Maximum number of lists of one account that wait. */
const MAX_WAITING = 100

const limitPerAccount = limitConcurrency(2, MAX_WAITING)
const limitApps = limitConcurrency(1, MAX_WAITING)
const waitForTurn = createTurns()

/** Accounts that received a large list within the last minute. The next list of such an account is probably large, too. */
const accountsWithLargeLists = new LRUCache<string, true>({ max: 10_000, ttl: MINUTE })

/** The caller of a list. A caller of a public list has no account. */
export type ListReader = Pick<Context, 'ipAddress' | 'isAbandoned'> &
  Pick<Partial<Caller>, 'scopes'> & { user?: Pick<Caller['user'], 'id'> }

/** Runs a slow read in a turn of the account (engine/procedures/lists/turns.ts). */
export type TakeTurn = <Result>(read: () => Promise<Result>) => Promise<Result>

/**
 * Fair queue for reading lists:
 * - Each account reads at most two lists at the same time, so that many list calls of one account do not delay other
 *   accounts. All apps with an access token of the account read one of these lists, so that the person can always read.
 * - Large lists and the batches of searches wait for a turn, so that the process can handle other calls between two turns.
 * - Callers of public lists, which have no account, are counted by network.
 * - A list is not read if its client has closed the connection.
 */
function queued<Result>(
  { user, ipAddress, scopes, isAbandoned }: ListReader,
  run: (id: string, takeTurn: TakeTurn) => Promise<Result>,
) {
  const id = user?.id ?? networkOf(ipAddress?.()) ?? 'this process'
  const runLimited = () =>
    limitPerAccount(id, () => run(id, (read) => waitForTurn(id, read, isAbandoned)), isAbandoned)
  return scopes ? limitApps(id, runLimited, isAbandoned) : runLimited()
}

/** Reads a list, in a turn if the account had a large list before. */
export const queueListRead = <Row>(reader: ListReader, read: () => Promise<SizedRow<Row>[]>) =>
  queued(reader, async (id, takeTurn) => {
    const rows = await (accountsWithLargeLists.has(id) ? takeTurn(read) : read())
    if (totalBytes(rows) > LARGE_LIST_BYTES) accountsWithLargeLists.set(id, true)
    return rows
  })

/** Runs a search, whose batches take turns. */
export const queueSearch = <Result>(reader: ListReader, search: (takeTurn: TakeTurn) => Promise<Result>) =>
  queued(reader, (_, takeTurn) => search(takeTurn))
