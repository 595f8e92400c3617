import { ORPCError } from '@orpc/client'

import { MAX_PAGE_BYTES, type PageRequest, type SizedRow } from '../../db/pagination.ts'
import type { TakeTurn } from './list-queue.ts'

/** Maximum duration of the statements of one search, in milliseconds. */
const MAX_WORK = 1000

/** Number of rows in the first batch. The following batches have the number that takes about BATCH_TIME. */
const FIRST_BATCH = 50
const MAX_BATCH = 5000
/** Duration of a batch, in milliseconds: as long as a short call of another person waits for the embedded database. */
const BATCH_TIME = 20
/** Maximum growth of the next batch. */
const MAX_GROWTH = 4

const searchTooLong = () =>
  new ORPCError('SEARCH_TOO_LONG', {
    status: 400,
    message: 'The search takes too long: use a longer or another text',
  })

interface SearchOptions<Row, After> {
  q: string
  list: (page: PageRequest<After>) => Promise<SizedRow<Row>[]>
  positionOf: (row: Row) => After
  takeTurn: TakeTurn
}

/** Rows with the text, the number of all matches in the scanned rows, and the position where the scan can continue. */
interface Found<Row, After> {
  rows: SizedRow<Row>[]
  matched: number
  next?: After | undefined
}

/**
 * Searches a list in batches of rows, each in a turn of the account, so that other calls do not wait for the whole search. Throws
 * SEARCH_TOO_LONG (400) if the statements together take longer than MAX_WORK: the embedded database has no timeout of statements.
 */
export function createSearch<Row, After>({ q, list, positionOf, takeTurn }: SearchOptions<Row, After>) {
  let work = 0
  let size = FIRST_BATCH

  async function scan(after: After | undefined, maxMatches: number): Promise<Found<Row, After>> {
    if (work > MAX_WORK) throw searchTooLong()
    const limit = size
    const [rows, duration] = await takeTurn(async () => {
      const start = performance.now()
      const batch = await list({ limit, q, maxMatches, ...(after && { after }) })
      return [batch, performance.now() - start]
    })
    work += duration
    size = Math.ceil(Math.min(MAX_BATCH, limit * MAX_GROWTH, (limit * BATCH_TIME) / duration))
    const last = rows.at(-1)
    if (!last) return { rows, matched: 0 }
    const { scanned, matched = 0 } = last
    if (scanned === undefined) throw new Error('A list with `q` needs `limitBytes` with `isSearch: true`')
    const next = scanned === limit ? positionOf(last) : undefined
    return { rows: rows.filter(({ isListed }) => isListed), matched, next }
  }

  /** Finds the rows of a page, up to the first row beyond MAX_PAGE_BYTES. */
  async function find({ limit, after }: PageRequest<After>): Promise<Found<Row, After>> {
    const found: Found<Row, After> = { rows: [], matched: 0, next: after }
    let bytes = 0
    do {
      const { rows, matched, next } = await scan(found.next, limit - found.rows.length)
      const before = bytes
      for (const row of rows) {
        if (bytes > MAX_PAGE_BYTES) break
        bytes = before + row.bytes
        found.rows.push({ ...row, bytes })
      }
      found.matched += matched
      found.next = next
    } while (found.next && found.rows.length < limit && bytes <= MAX_PAGE_BYTES)
    return found
  }

  /** Counts all rows with the text. Continues the scan of the first page, and starts again for the other pages. */
  async function countAll({ after }: PageRequest<After>, found: Found<Row, After>) {
    let total = after ? 0 : found.matched
    let next = after ? undefined : found.next
    if (!after && !next) return total
    do {
      // The statement counts all matches of the batch, and lists none of them.
      const batch = await scan(next, 0)
      total += batch.matched
      next = batch.next
    } while (next)
    return total
  }

  return { find, countAll }
}
