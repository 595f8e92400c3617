import { linkToNext, MAX_LIMIT, type Page, type Search } from 'tallystick-contract/internal'

import type { Keyset, SortValues } from '../../db/keyset.ts'
import {
  limitJson,
  MAX_PAGE_BYTES,
  type PageRequest,
  type Position,
  type SizedRow,
  totalBytes,
} from '../../db/pagination.ts'
import type { Context } from '../../call/context.ts'
import {
  type CursorFormat,
  decodeCursor,
  encodeCursor,
  sortValues,
  throwReadError,
  timeAndId,
} from './cursors.ts'
import { LARGE_LIST_BYTES, type ListReader, queueListRead, queueSearch } from './list-queue.ts'
import { createSearch } from './search.ts'
import type { Share } from './shared-reads.ts'

/** The part of a call's options that pagination uses. */
interface ListCall {
  context: Pick<Context, 'reply'> & ListReader
  input: (Page & Search) | undefined
  procedure: { '~orpc': { route: { path?: string } } }
  /** Shares the read with equal reads that wait. By default, each call has its own read. */
  share?: Share | undefined
}

/**
 * The sort order of a list. `cursorPattern` matches a decoded cursor of the format `<milliseconds>.<id>`, for example
 * `1700000000000.42`.
 */
export interface Order<Row> {
  positionOf: (row: Row) => Position
  cursorPattern: RegExp
  /** Returns the values that limit the size of a page. Empty if the number of rows also limits the bytes. */
  textsOf: (row: Row) => readonly unknown[]
}

const positionByTime = ({ createdAt, id }: { createdAt: Date; id: number | string }) => ({
  at: createdAt,
  id,
})

/** The order of a list. The ids are numbers. */
export const newestFirst: Omit<Order<{ createdAt: Date; id: number }>, 'textsOf'> = {
  positionOf: positionByTime,
  cursorPattern: /^(\d{1,13})\.(\d{1,15})$/,
}

/** The order of a list. The ids are texts. */
export const newestFirstByText: Omit<Order<{ createdAt: Date; id: string }>, 'textsOf'> = {
  positionOf: positionByTime,
  cursorPattern: /^(\d{1,13})\.([!-~]{1,254})$/,
}

/**
 * Keyset pagination. Returns the rows of the requested page, and the number of rows in the complete list: `countAll`
 * counts these rows unless the page is the complete list, or a search. A page ends at the maximum number of rows or of bytes
 * (engine/db/pagination.ts). Reads one more row than the page contains, to detect whether there is a next page. Sends
 * the URL of the next page in the `Link` header, because the documented response bodies have no field for the URL.
 */
export async function readPage<Row>(
  call: ListCall,
  order: Order<Row>,
  list: (page: PageRequest) => Promise<SizedRow<Row>[]>,
): Promise<{ rows: Row[] }>
export async function readPage<Row>(
  call: ListCall,
  order: Order<Row>,
  list: (page: PageRequest) => Promise<SizedRow<Row>[]>,
  countAll: () => Promise<number>,
): Promise<{ rows: Row[]; total: number }>
export async function readPage<Row>(
  call: ListCall,
  { cursorPattern, ...order }: Order<Row>,
  list: (page: PageRequest) => Promise<SizedRow<Row>[]>,
  countAll?: () => Promise<number>,
) {
  const format = timeAndId(cursorPattern)
  const after = decodeCursor(format, call.input?.cursor)
  // Without a cursor, an invalid value cannot be a mistake in the cursor.
  const listAfter: typeof list = (page) => list(page).catch(throwReadError)
  return readPageAfter(call, after, { ...order, format }, after ? listAfter : list, countAll)
}

/** `readPage` for a list in the order of a keyset. */
export async function readSortedPage<Row extends { sortValues: SortValues }>(
  call: ListCall & { context: Pick<Context, 'db'> },
  { keyset, textsOf }: Pick<Order<Row>, 'textsOf'> & { keyset: Keyset },
  list: (page: PageRequest<SortValues>) => Promise<SizedRow<Row>[]>,
  countAll?: () => Promise<number>,
) {
  const format = sortValues(keyset)
  const after = decodeCursor(format, call.input?.cursor)
  if (after) await keyset.requireTypes(call.context.db, after).catch(throwReadError)
  const positionOf = (row: Row) => row.sortValues
  return readPageAfter(call, after, { positionOf, textsOf, format }, list, countAll)
}

interface FormattedOrder<Row, After> extends Pick<Order<Row>, 'textsOf'> {
  positionOf: (row: Row) => After
  format: CursorFormat<After>
}

async function readPageAfter<Row, After>(
  { context, input = {}, procedure, share }: ListCall,
  after: After | undefined,
  order: FormattedOrder<Row, After>,
  list: (page: PageRequest<After>) => Promise<SizedRow<Row>[]>,
  countAll?: () => Promise<number>,
) {
  const { limit = MAX_LIMIT, cursor: _, ...parameters } = input
  const { positionOf, format } = order
  const request: PageRequest<After> = { limit: limit + 1, ...(after !== undefined && { after }) }
  const cut = (listed: SizedRow<Row>[]) => cutPage(listed, limit, order)
  const { user, ipAddress, scopes } = context
  const { q } = parameters

  const read = async (begin: () => void, isAbandoned: ListReader['isAbandoned']) => {
    const reader = { user, ipAddress, scopes, isAbandoned }
    if (q)
      return queueSearch(reader, async (takeTurn) => {
        begin()
        const search = createSearch({ q, list, takeTurn, positionOf })
        const found = await search.find(request)
        const total = countAll && (await search.countAll(request, found))
        return { ...cut(found.rows), total, isLarge: isLarge(found.rows) }
      })
    const listed = await queueListRead(reader, () => {
      begin()
      return list(request)
    })
    const page = cut(listed)
    const total = after || page.last ? await countAll?.() : page.rows.length
    return { ...page, total, isLarge: isLarge(listed) }
  }

  const { rows, last, total } = await (share ? share(read) : read(() => undefined, context.isAbandoned))
  if (!last) return { rows, total }

  const next = { ...parameters, limit: String(limit), cursor: encodeCursor(format, positionOf(last)) }
  const values = new Map(Object.entries(next).filter(isDefined))
  const path = procedure['~orpc'].route.path?.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values.get(name) ?? ''
    values.delete(name)
    return encodeURIComponent(value)
  })
  context.reply.set('link', linkToNext(path ?? '', new URLSearchParams([...values])))
  return { rows, total }
}

/** Returns the rows of a page, and the last row if another page follows. */
function cutPage<Row>(read: SizedRow<Row>[], limit: number, { textsOf }: Pick<Order<Row>, 'textsOf'>) {
  const listed = limitJson(read, textsOf)
  const hasNext = listed.length > limit || totalBytes(listed) > MAX_PAGE_BYTES
  return hasNext ? { rows: listed.slice(0, -1), last: listed.at(-2) } : { rows: listed, last: undefined }
}

const isLarge = (rows: readonly SizedRow<unknown>[]) => totalBytes(rows) > LARGE_LIST_BYTES

const isDefined = (entry: [string, string | undefined]): entry is [string, string] => entry[1] !== undefined
