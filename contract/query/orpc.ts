import { type Client as ProcedureClient, type ClientContext, createORPCClient } from '@orpc/client'
import { createTanstackQueryUtils, type RouterUtils } from '@orpc/tanstack-query'

import type { CallContext, Client } from '../client.ts'
import { nextCursor } from '../link.ts'

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

/** A client that adds the entity tag and the cursor of the next page to the outputs. */
export type ClientWithHeaders = { [Resource in keyof Client]: WithHeaders<Client[Resource]> }

export type QueryUtils = RouterUtils<ClientWithHeaders>

/**
 * Creates oRPC's helpers for TanStack Query: `useQuery(orpc.tasks.get.queryOptions({ input: { id } }))`. Cached outputs
 * contain `etag` and `nextCursor`, because TanStack Query caches no response headers.
 */
export const createQueryUtils = (client: Client): QueryUtils => createTanstackQueryUtils(withHeaders(client))

function withHeaders(client: Client): ClientWithHeaders {
  return createORPCClient<ClientWithHeaders>({
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
