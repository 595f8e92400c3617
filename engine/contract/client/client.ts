import { createORPCClient, type NestedClient } from '@orpc/client'
import { type LinkFetchClientOptions, RPCLink, type RPCLinkOptions } from '@orpc/client/fetch'
import type { AnyContractRouter, ContractRouterClient } from '@orpc/contract'
import { OpenAPILink, type OpenAPILinkOptions } from '@orpc/openapi-client/fetch'

import { withName } from '../error-names.ts'
import { decodeErrorBody } from '../errors.ts'
import { metaOf } from '../meta.ts'
import { nextCursor } from './link.ts'
import { createParameterGuard, findProcedure } from './path-parameters.ts'
import { resume, type ResumeContext } from './resume.ts'
import { keepRetryTime } from './retry-time.ts'

export {
  /**
   * Returns whether the contract declares an error: `if (isDefinedError(error) && error.code === 'NO_COPY') …`. `error.data` then
   * has the declared type.
   */
  isDefinedError,
  /** The error of a refused call: `if (error instanceof ORPCError && error.status === 404) …`. */
  ORPCError,
  /** Returns the error of a call instead of throwing the error: `const { error, data } = await safe(client.loans.list())`. */
  safe,
} from '@orpc/client'
export { decodeErrorBody } from '../errors.ts'
export { isValidationError } from './validation-error.ts'

/** Options of a single call: `client.books.update(changes, { context: { headers: { 'if-match': tag } } })`. */
export interface CallContext extends ResumeContext {
  headers?: Record<string, string>
  /** The client adds the response headers to this map, with names in lower case. */
  reply?: Map<string, string | string[]>
  /** Browsers complete the request even if the page closes. Not with a `fetch` of your own. */
  keepalive?: true
}

/** A client with an async function for each procedure: `client.account.get()`. */
export type ClientOf<Contract, Context extends CallContext = CallContext> = {
  [Resource in keyof Contract]: Contract[Resource] extends AnyContractRouter
    ? ContractRouterClient<Contract[Resource], Context>
    : never
}

/**
 * Outside a browser, `headers` must contain the session cookie. `fetch` replaces the global `fetch`, and must send
 * cookies to another origin itself (`credentials: 'include'`).
 */
export type ClientOptions = Pick<LinkFetchClientOptions<CallContext>, 'fetch'> & {
  headers?: Record<string, string>
}

/**
 * Options of `createRpcClient`. `plugins` are plugins of oRPC's links, for example BatchLinkPlugin. Some plugins add options
 * to single calls: the type of the context is then `CallContext & ClientRetryPluginContext`.
 */
export type RpcClientOptions<Context extends CallContext = CallContext> = ClientOptions &
  Pick<RPCLinkOptions<Context>, 'plugins'>

/** Makes browsers send the session cookie to another origin. The service must trust the origin of the page. */
const withCookies: NonNullable<ClientOptions['fetch']> = (
  request,
  init,
  { context: { keepalive = false } },
) => fetch(request, { ...init, credentials: 'include', keepalive })

type LinkOptions = Required<OpenAPILinkOptions<CallContext>>
/** Runs around a call, before the input becomes a request. */
type CallInterceptor = LinkOptions['interceptors'][number]
/** Runs around each request of a call. */
type RequestInterceptor = LinkOptions['clientInterceptors'][number]

const fillReply: RequestInterceptor = async ({ context: { reply }, next }) => {
  const response = await next()
  if (reply)
    for (const [name, value] of Object.entries(response.headers))
      if (value !== undefined) reply.set(name, value)
  return response
}

/** Completes the error of a call: with its name, and with the time of the next attempt for `retryTimeOf`. */
const completeError: CallInterceptor = async (call) => {
  const { reply = new Map<string, string | string[]>() } = call.context
  try {
    return await call.next({ ...call, context: { ...call.context, reply } })
  } catch (error) {
    keepRetryTime(error, reply.get('retry-after'))
    throw withName(error)
  }
}

/** Returns the URL without its last slash. Throws a TypeError if the text is not the URL of a service. */
function checkOrigin(url: string) {
  if (!/^https?:\/\/[^/]/.test(url))
    throw new TypeError(`'${url}' is not an origin such as http://localhost:3000`)
  return url.replace(/\/$/, '')
}

/**
 * Creates a client that uses RPC. The bundle stays small, because it contains no schemas.
 *
 * @example
 * const client = createRpcClient<Contract>('https://api.example.com', { headers: { authorization: `Bearer ${token}` } })
 */
export function createRpcClient<Contract, Context extends CallContext = CallContext>(
  origin: string,
  { headers, ...options }: RpcClientOptions<Context> = {},
): ClientOf<Contract, Context> {
  const link = new RPCLink<Context>({
    fetch: withCookies,
    ...options,
    url: `${checkOrigin(origin)}/rpc`,
    headers: ({ context }) => ({ ...headers, ...context.headers }),
    interceptors: [resume, completeError],
    clientInterceptors: [fillReply],
  })
  return createORPCClient<ClientOf<Contract, Context> & NestedClient<Context>>(link)
}

/** Returns the header that selects a procedure with a media type of its own. */
function acceptOf(contract: AnyContractRouter, operation: readonly string[]) {
  const procedure = findProcedure(contract, operation)
  const alternative = procedure && metaOf(procedure).alternative
  return alternative && { accept: alternative.mediaType }
}

/**
 * Creates a client that uses the documented REST paths.
 *
 * @example
 * const client = createRestClient(contract, 'https://api.example.com')
 */
export function createRestClient<Contract extends AnyContractRouter>(
  contract: Contract,
  origin: string,
  { headers, ...options }: ClientOptions = {},
): ClientOf<Contract> {
  // An id such as `..` or `reset` would make the URL another path.
  const guardParameters = createParameterGuard(contract)
  const guard: CallInterceptor = (options) =>
    options.next({ ...options, input: guardParameters(options.path, options.input) })
  const link = new OpenAPILink<CallContext>(contract, {
    fetch: withCookies,
    ...options,
    url: checkOrigin(origin),
    headers: ({ context }, path) => ({
      ...acceptOf(contract, path),
      ...headers,
      ...context.headers,
    }),
    customErrorResponseBodyDecoder: decodeErrorBody,
    interceptors: [resume, completeError, guard],
    clientInterceptors: [fillReply],
  })
  return createORPCClient<ClientOf<Contract> & NestedClient<CallContext>>(link)
}

/** Yields every page of a list: `for await (const { books } of pages(client.books.list, { limit: 100 }))`. */
export async function* pages<Input extends { cursor?: string } | undefined, Output>(
  list: (input: Input, options: { context: CallContext }) => Promise<Output>,
  ...[input]: undefined extends Input ? [input?: NoInfer<Input>] : [input: NoInfer<Input>]
): AsyncGenerator<Output, void> {
  let cursor = input?.cursor
  do {
    const reply: CallContext['reply'] = new Map()
    yield await list({ ...input, cursor } as Input, { context: { reply } })
    cursor = nextCursor(reply.get('link'))
  } while (cursor)
}
