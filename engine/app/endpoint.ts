import type { Promisable } from '@orpc/shared'
import type { DeclaredAction, RateLimit, Scope } from 'tallystick-contract/internal'

import type { Caller } from '../call/caller.ts'
import type { Context } from '../call/context.ts'

/** The kinds of bodies that an endpoint can receive, with the type of the value for the handler. */
interface Bodies {
  /** The bytes as received, also if they are compressed. */
  bytes: Buffer
  /** UTF-8. Other bytes are refused with 400. */
  text: string
  /** The fields of `application/x-www-form-urlencoded`, in their order. Fields can be repeated. */
  form: URLSearchParams
  /** The handler starts before the body has arrived. */
  stream: ReadableStream<Uint8Array>
}

export type BodyKind = keyof Bodies

type BodyOf<Kind> = Kind extends BodyKind ? Bodies[Kind] : undefined

/** The parameters in a path: `{ id: string }` for `/api/covers/{id}`. */
type ParametersOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Readonly<Record<Name, string>> & ParametersOf<Rest>
  : unknown

export interface EndpointAccess {
  /** The scope that an access token needs. Without a scope, the endpoint rejects access tokens. */
  scope?: Scope
  /** Rejects callers without the role with 403. */
  role?: 'admin'
  /** Rejects calls during an impersonation with 403. */
  sensitive?: true
}

interface Declaration<Path, Kind, Access> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** May have parameters for complete segments: `/api/covers/{id}`. */
  path: Path
  /** By default, a request with a body is refused. */
  body?: Kind
  /** Maximum size of the body, in bytes. By default 1 MiB. At most 16 MiB, except for a stream. */
  maxBytes?: number
  /** The media types of the body, for example `text/csv` or `image/*`. Other bodies are refused with 415. By default all. */
  types?: readonly string[]
  /**
   * Maximum time for the body to arrive, and maximum time for the answer, in seconds. By default, 30 for the body, and the
   * setting ANSWER_TIMEOUT for the answer.
   */
  timeout?: number
  /** Counts by network, before the body is read. With `perAccount`, counts by the account of the caller. */
  rateLimit: RateLimit
  /** The callers that the endpoint accepts. By default all: the engine then ignores the credentials of a request. */
  access?: Access
  /**
   * The name under which the audit trail records calls. The handler runs in a transaction with the entry. With a status of 400 or more,
   * the entry says that the call was refused.
   */
  audit?: DeclaredAction
}

/** A request to an endpoint. `request` also has the body, for packages that read it themselves. */
interface EndpointCall<Path extends string, Kind, Access> {
  request: Request
  params: ParametersOf<Path>
  body: BodyOf<Kind>
  context: Access extends EndpointAccess ? Context & Caller : Context
}

/** An endpoint that an application declares beside its resources. */
export interface Endpoint extends Declaration<
  `/${string}`,
  BodyKind | undefined,
  EndpointAccess | undefined
> {
  /** The type of the call depends on the declaration. `never` accepts every handler. */
  handler: (call: never) => Promisable<Response>
}

/** The endpoints by their names in the log and in metrics. */
export type Endpoints = Readonly<Record<string, Endpoint>>

/**
 * Declares an endpoint for requests that no procedure can receive, such as signed webhooks, forms and uploads. The handler
 * receives the body as it was sent, and returns a `Response`. `defineApp` lists the endpoints.
 *
 * @example
 * export const inbox = endpoint(
 *   { method: 'POST', path: '/api/hooks/{sender}', body: 'bytes', types: ['application/json'], rateLimit: hookLimit },
 *   async ({ request, body, params, context: { db } }) => {
 *     if (!isSigned(body, request.headers)) return new Response('The signature is wrong', { status: 401 })
 *     await query.store(db, params.sender, body)
 *     return new Response(null, { status: 204 })
 *   },
 * )
 */
export const endpoint = <
  const Path extends `/${string}`,
  Kind extends BodyKind | undefined = undefined,
  Access extends EndpointAccess | undefined = undefined,
>(
  declaration: Declaration<Path, Kind, Access>,
  handler: (call: EndpointCall<Path, Kind, Access>) => Promisable<Response>,
): Endpoint => ({ ...declaration, handler })
