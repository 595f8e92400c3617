import { type ClientContext, createORPCClient } from '@orpc/client'
import { type LinkFetchClientOptions, RPCLink } from '@orpc/client/fetch'
import type { ContractRouterClient } from '@orpc/contract'
import { OpenAPILink } from '@orpc/openapi-client/fetch'

import { fromErrorBody } from './errors.ts'
import { type Contract, contract } from './index.ts'
import { firstForm } from './legacy-notes.ts'

export { isDefinedError, ORPCError, safe } from '@orpc/client'

/** Every procedure as a local async function: `client.tasks.create({ taskTitle })`. */
export type Client = ContractRouterClient<Contract>

/** `headers` carry the session cookie where no browser does; `fetch` may be swapped. */
export type ClientOptions = Pick<LinkFetchClientOptions<ClientContext>, 'fetch'> & {
  headers?: Record<string, string>
}

/** Browsers send the session cookie to another origin too, where that trusts the page's. */
const withCookies: NonNullable<ClientOptions['fetch']> = (request, init) =>
  fetch(request, { ...init, credentials: 'include' })

/** The client over RPC: small, and nothing of the contract's schemas travels with it. */
export function createClient(origin: string, options: ClientOptions = {}): Client {
  return createORPCClient(new RPCLink({ fetch: withCookies, ...options, url: new URL('/rpc', origin) }))
}

/** The same client over the documented REST paths. */
export function createRestClient(origin: string, { headers, ...options }: ClientOptions = {}): Client {
  const link = new OpenAPILink(contract, {
    fetch: withCookies,
    ...options,
    url: origin,
    headers: (_, path) => ({ ...(path[0] === 'legacyNotes' && { accept: firstForm }), ...headers }),
    customErrorResponseBodyDecoder: fromErrorBody,
  })
  return createORPCClient(link)
}
