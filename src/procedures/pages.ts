import { MAX_LIMIT, type Page } from '../../contract/base.ts'
import { badRequest } from '../../contract/errors.ts'
import { linkToNext } from '../../contract/link.ts'
import { bytesOf, PAGE_BYTES, type Paged, type Place, type Span } from '../../db/pages.ts'
import type { Caller, Context } from '../context.ts'
import { queueListRead } from './list-queue.ts'

/** What a list is called with, as far as its pages go. */
interface Call {
  context: Pick<Context, 'reply'> & { user: Pick<Caller['user'], 'id'> }
  input: Page | undefined
  procedure: { '~orpc': { route: { path?: string } } }
}

/** Where a row stands in a list, and what a cursor of it looks like inside: a time in milliseconds, and an id. */
export interface Order<Row> {
  placeOf: (row: Row) => Place
  cursor: RegExp
}

export const newestFirst: Order<{ createdAt: Date; id: number }> = {
  placeOf: ({ createdAt, id }) => ({ at: createdAt, id }),
  cursor: /^(\d{1,13})\.(\d{1,15})$/,
}

/**
 * The page that is asked for, and whether it is the whole list. A page ends at its limit of rows, or at the limit of bytes
 * (db/pages.ts): one row more is read, to know whether others follow. A header names the next page, so that the answer
 * has its documented fields alone.
 */
export async function readPage<Row>(
  { context, input = {}, procedure }: Call,
  order: Order<Row>,
  list: (span: Span) => Promise<Paged<Row>[]>,
) {
  const { limit = MAX_LIMIT, cursor, ...filters } = input
  const after = cursor === undefined ? undefined : read(cursor, order)
  const found = await queueListRead(context.user.id, () => list({ limit: limit + 1, after }))
  const hasNext = found.length > limit || bytesOf(found) > PAGE_BYTES
  const last = hasNext ? found.at(-2) : undefined
  if (!last) return { rows: found, isWhole: !after }

  const next = { ...filters, limit: String(limit), cursor: write(order.placeOf(last)) }
  const query = new URLSearchParams(Object.entries(next).filter(isGiven))
  context.reply.set('link', linkToNext(procedure['~orpc'].route.path ?? '', query))
  return { rows: found.slice(0, -1), isWhole: false }
}

const isGiven = (entry: [string, string | undefined]): entry is [string, string] => entry[1] !== undefined

const write = ({ at, id }: Place) => Buffer.from(`${at.getTime()}.${id}`).toString('base64url')

function read(cursor: string, order: Pick<Order<never>, 'cursor'>): Place {
  const [, at, id] = order.cursor.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (at === undefined || id === undefined)
    throw badRequest([{ path: ['cursor'], message: 'Must be a cursor of this list' }])
  return { at: new Date(Number(at)), id }
}
