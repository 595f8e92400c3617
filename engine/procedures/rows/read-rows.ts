import type { Page, Search } from 'tallystick-contract/internal'

import type { SortValues } from '../../db/keyset.ts'
import type { SizedRow } from '../../db/pagination.ts'
import type { ListSelection, Rows, RowsRequest } from '../../db/rows/index.ts'
import type { Caller } from '../../call/caller.ts'
import type { Context } from '../../call/context.ts'
import type { ProcedureContract } from '../../guard/procedure-contract.ts'
import { keyOf, type Share } from '../lists/shared-reads.ts'
import { newestFirst, newestFirstByText, type Order, readPage, readSortedPage } from '../lists/pagination.ts'

/** A call of a procedure that lists rows. A call of a public procedure has no caller. */
export interface ListCall {
  context: Context & Partial<Caller>
  path: readonly string[]
  procedure: { '~orpc': ProcedureContract }
  share?: Share | undefined
  input: (Page & Search & { order?: string | undefined } & Readonly<Record<string, unknown>>) | undefined
}

/** `{ books: […] }`, and with the name of the total `{ books: […], bookCount: 7 }`. */
export type PageOf<View, List extends string, Total extends string> = Record<List, View[]> &
  Record<Total, number>

/** Returns the values in the input that select the rows of a list. */
export function selectionOf({ input }: Pick<ListCall, 'input'>): ListSelection {
  const { limit: _, cursor: __, ...selection } = input ?? {}
  return selection
}

/**
 * Returns the key of a read: calls with the same key receive the same rows, and can share a read
 * (engine/procedures/lists/shared-reads.ts). Reads wait in a queue for each account, and apps wait in another queue than the person.
 * Therefore, the key has the account, and whether the caller is an app. The key also has the address, because members are stored by
 * address. Returns undefined without an account: these reads wait in the queue of their network.
 */
export function readKeyOf({ context, input = {} }: ListCall, relations: readonly string[] | undefined) {
  const { user, scopes } = context
  if (!user) return undefined
  const isApp = scopes !== undefined
  return keyOf([user.id, user.email, isApp, relations?.join(), ...Object.entries(input).flat()])
}

type Read<Row> = (page: RowsRequest) => Promise<SizedRow<Row>[]>

type Listed = Pick<Rows, 'keysetOf' | 'textsOf'> & Partial<Pick<Rows, 'hasTextIds'>>

/**
 * Reads a page of rows, and the total if there is `count`. The order is the keyset of `keysetOf`, or newest first if there is none.
 * `textsOf` returns the values that limit the bytes of a page.
 */
export async function readRows<Row>(
  call: ListCall,
  { keysetOf, textsOf, hasTextIds = false }: Listed,
  { list, count }: { list: Read<Row>; count?: () => Promise<number> },
): Promise<{ rows: Row[]; total?: number | undefined }> {
  const keyset = await keysetOf(call.input?.order, call.context.db)
  // The rows have the fields of their order, which the types do not show.
  if (keyset)
    return readSortedPage(call, { keyset, textsOf }, list as Read<Row & { sortValues: SortValues }>, count)
  const order = { ...(hasTextIds ? newestFirstByText : newestFirst), textsOf } as Order<Row>
  return count ? readPage(call, order, list, count) : readPage(call, order, list)
}
