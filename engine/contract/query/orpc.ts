import {
  type Client as ProcedureClient,
  type ClientContext,
  createORPCClient,
  type NestedClient,
} from '@orpc/client'
// Bundlers show the next line if the packages are missing. Node shows only the name of the first package.
import { createTanstackQueryUtils, type RouterUtils } from '@orpc/tanstack-query' // npm install @orpc/tanstack-query@1.16.1 @tanstack/query-core

import type { CallContext, ClientOf } from '../client/client.ts'
import { nextCursor } from '../client/link.ts'

/** Values from response headers. */
interface FromHeaders {
  /** The entity tag of the resource (`ETag`), for `If-Match`. */
  etag?: string
  /** The cursor of the next page of a list. Undefined on the last page. */
  nextCursor?: string
}

type WithHeaders<Procedures> = {
  [Name in keyof Procedures]: Procedures[Name] extends ProcedureClient<
    infer Context extends ClientContext,
    infer Input,
    infer Output,
    infer Error
  >
    ? ProcedureClient<Context, Input, Output & FromHeaders, Error>
    : never
}

/**
 * A client that adds the entity tag and the cursor of the next page to the outputs.
 *
 * @example
 * type Loans = Awaited<ReturnType<ClientWithHeaders<Contract>['loans']['list']>> // { loans: Loan[]; nextCursor?: string }
 */
export type ClientWithHeaders<Contract> = {
  [Resource in keyof Contract]: WithHeaders<ClientOf<Contract>[Resource]>
}

/** The contract of helpers, only for the compiler, which cannot derive a contract from its helpers. */
declare const contractOf: unique symbol

/**
 * The helpers for TanStack Query of all procedures.
 *
 * @example
 * const orpc: QueryUtils<Contract> = createQueryUtils<Contract>(client)
 */
export type QueryUtils<Contract> = (ClientWithHeaders<Contract> extends infer All extends
  NestedClient<CallContext>
  ? RouterUtils<All>
  : never) & { readonly [contractOf]?: Contract }

/**
 * Creates oRPC's helpers for TanStack Query: `useQuery(orpc.books.get.queryOptions({ input: { id } }))`. Cached outputs
 * contain `etag` and `nextCursor`, because TanStack Query caches no response headers.
 */
export const createQueryUtils = <Contract>(client: ClientOf<Contract>): QueryUtils<Contract> =>
  createTanstackQueryUtils(withHeaders(client)) as unknown as QueryUtils<Contract>

function withHeaders<Contract>(client: ClientOf<Contract>) {
  return createORPCClient<NestedClient<CallContext>>({
    async call(path, input, { context, ...options }) {
      const reply: NonNullable<CallContext['reply']> = context.reply ?? new Map<string, string>()
      const procedure = path.reduce<unknown>(
        (member, name): unknown => Reflect.get(Object(member), name),
        client,
      )
      const output = await (procedure as AnyProcedure)(input, { ...options, context: { ...context, reply } })
      const fromHeaders = { etag: reply.get('etag'), nextCursor: nextCursor(reply.get('link')) }
      return Object.values(fromHeaders).some(Boolean) ? Object.assign({}, output, fromHeaders) : output
    },
  })
}

type AnyProcedure = ProcedureClient<CallContext, unknown, unknown, unknown>
