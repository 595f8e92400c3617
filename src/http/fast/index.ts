import { toORPCError } from '@orpc/client'
import { StandardOpenAPICodec, StandardOpenAPIMatcher } from '@orpc/openapi/standard'
import {
  StandardBracketNotationSerializer,
  StandardOpenAPIJsonSerializer,
  StandardOpenAPISerializer,
} from '@orpc/openapi-client/standard'
import type { HTTPPath } from '@orpc/client'
import { type AnyProcedure, ORPCError, validateORPCError } from '@orpc/server'
import {
  type StandardCodec,
  type StandardMatcher,
  type StandardParams,
  StandardRPCCodec,
  StandardRPCMatcher,
} from '@orpc/server/standard'
import type { Promisable } from '@orpc/shared'
import type { OutgoingHttpHeader, ServerResponse } from 'node:http'

import { catchMaybePromise, mapMaybePromise } from '../../maybe-promise.ts'
import { router } from '../../procedures/index.ts'
import { afterFlush } from '../tick.ts'
import type { Coding } from '../accept.ts'
import { compressors, MIN_COMPRESSED, selectCoding } from '../compression.ts'
import { type CompiledProcedure, compile } from './compile.ts'
import { encodeError } from '../errors.ts'
import { contentTypeOf, type Form, formOf, hasForm, isDatastar } from '../note-forms.ts'
import { type Call, isNotModified } from '../protocol.ts'
import { isBatch, RPC, rpcSerializer } from '../rpc-format.ts'

interface WireFormat {
  matcher: StandardMatcher
  codec: StandardCodec
  inputOf: (call: Call) => unknown
  /** Converts the JSON of an output to the body of the answer. */
  wrap: (json: string) => string
  /**
   * True for REST, false for RPC. In REST, the status can be 304, and routes of the first form of notes have their own
   * content type (src/http/note-forms.ts).
   */
  isRest: boolean
}

interface Route extends CompiledProcedure {
  procedure: AnyProcedure
  operation: string
  params?: StandardParams
  /** The cached answer. Set only for a procedure with the same output for every caller. */
  text?: string
}

function rest(form: Form): WireFormat {
  const json = new StandardOpenAPIJsonSerializer()
  const serializer = new StandardOpenAPISerializer(json, new StandardBracketNotationSerializer())
  return {
    matcher: new StandardOpenAPIMatcher({ filter: hasForm(form) }),
    codec: new StandardOpenAPICodec(serializer),
    inputOf: ({ method, body, plain }) =>
      method === 'GET' ? serializer.deserialize(new URLSearchParams(plain?.query)) : body,
    wrap: (json) => json,
    isRest: true,
  }
}

const rpc = (): WireFormat => ({
  matcher: new StandardRPCMatcher(),
  codec: new StandardRPCCodec(rpcSerializer),
  inputOf: ({ body }) => body?.json,
  wrap: (json) => `{"json":${json}}`,
  isRest: false,
})

interface Exchange {
  call: Call
  response: ServerResponse
  responseHeaders: readonly string[]
}

/**
 * Answers a call, or returns false if the standard handlers must answer. Writes all headers of an answer with one
 * `writeHead`, and returns synchronously if possible.
 */
type FastPath = (exchange: Exchange) => Promisable<boolean>

/**
 * Creates the fast path: answers common requests over REST and RPC at a fraction of the cost of the standard handlers
 * of oRPC. The fast path uses the same matchers, codecs and procedures, but composes each procedure once, not in every
 * call. Its answers equal those of the standard handlers, byte by byte. The standard handlers answer all other
 * requests: requests without a plain target (for example, with an escaped query), requests of Datastar pages, RPC requests that use
 * GET, contain `meta` or are a batch, and procedures that answer with events. For `checks`, see `compile`.
 */
export function createFastPath(checks: boolean): FastPath {
  const compiled = new WeakMap<AnyProcedure, CompiledProcedure>()
  const compiledOf: CompiledOf = (procedure, path) => {
    const known = compiled.get(procedure) ?? compile(procedure, path, checks)
    compiled.set(procedure, known)
    return known
  }
  const overRpc = createAnswerer(rpc(), compiledOf)
  const overRest = { 1: createAnswerer(rest(1), compiledOf), 2: createAnswerer(rest(2), compiledOf) }

  return (exchange) => {
    const { call } = exchange
    const { plain, method, body, request } = call
    if (plain === undefined || isDatastar(request.headers)) return false
    const { path } = plain
    if (!path.startsWith(RPC)) return overRest[formOf(call)](exchange, path)
    return (
      method === 'POST' &&
      !(body && ('meta' in body || isBatch(request.headers))) &&
      overRpc(exchange, `/${path.slice(RPC.length)}`)
    )
  }
}

type CompiledOf = (procedure: AnyProcedure, path: readonly string[]) => CompiledProcedure

/** Creates a function that answers calls in one wire format: REST with one of the two forms of notes, or RPC. */
function createAnswerer(format: WireFormat, compiledOf: CompiledOf) {
  const { codec, inputOf, wrap, isRest } = format
  const find = createRouteFinder(format, compiledOf)

  const encode = ({ call }: Exchange, { procedure, serialize, operation }: Route, output: unknown) => {
    if (!serialize) {
      const { status, body } = codec.encode(output, procedure)
      return { status, text: JSON.stringify(body) }
    }
    try {
      return { status: 200, text: wrap(serialize(output)) }
    } catch (err) {
      // Logs the error here, because serialization runs after the guard has returned, and only the serialization
      // notices that the output violates the contract.
      call.context.log.error({ err, procedure: operation }, 'a procedure failed')
      throw err
    }
  }

  const sendOutput = (exchange: Exchange, route: Route, output: unknown) => {
    const { status, text } = encode(exchange, route, output)
    if (route.meta.constant && route.serialize) route.text = text
    if (!isRest) return send(exchange, status, text)
    return send(exchange, isNotModified(exchange.call) ? 304 : status, text, contentTypeOf(route.meta))
  }

  const sendError = async (exchange: Exchange, { errorMap }: Route, error: unknown) => {
    const known = error instanceof ORPCError ? await validateORPCError(errorMap, error) : error
    const publicError = toORPCError(known)
    const { type, text } = encodeError(exchange.call.request, publicError)
    return send(exchange, publicError.status, text, type)
  }

  const serve = (exchange: Exchange, route: Route) => {
    const { call } = exchange
    const input = route.params ? { ...(inputOf(call) as object), ...route.params } : inputOf(call)
    return catchMaybePromise(
      () => mapMaybePromise(route.run(call.context, input), (output) => sendOutput(exchange, route, output)),
      (error) => sendError(exchange, route, error),
    )
  }

  return (exchange: Exchange, path: HTTPPath) => {
    const { method, context } = exchange.call
    return mapMaybePromise(find(method, path), (route) => {
      if (!route) return false
      const { text, operation } = route
      if (text === undefined || context.malformed) return serve(exchange, route)
      context.attributes.operation = operation
      return send(exchange, 200, text)
    })
  }
}

/** Finds the route of a method and path. Routes without path parameters are cached. */
function createRouteFinder({ matcher }: WireFormat, compiledOf: CompiledOf) {
  matcher.init(router)
  const routes = new Map<string, Map<string, Route>>()
  const look = async (method: string, path: HTTPPath): Promise<Route | undefined> => {
    const match = await matcher.match(method, path)
    if (!match) return undefined
    const { procedure, params } = match
    const known = compiledOf(procedure, match.path)
    if (known.isStream) return undefined
    const route = { ...known, procedure, operation: match.path.join('.'), params }
    if (!params) routes.set(path, new Map(routes.get(path)).set(method, route))
    return route
  }
  return (method: string, path: HTTPPath) => routes.get(path)?.get(method) ?? look(method, path)
}

function send(exchange: Exchange, status: number, text: string, type = 'application/json') {
  const { call, response } = exchange
  const size = Buffer.byteLength(text)
  const isLarge = size >= MIN_COMPRESSED && status < 400
  const coding = isLarge ? selectCoding(call.request, call.context.reply) : undefined
  if (coding && status !== 304) return sendCompressed(exchange, text, coding, type)
  response.writeHead(
    status,
    headersOf(exchange, status === 304 ? [] : ['content-type', type, 'content-length', size]),
  )
  // If the text has as many bytes as characters, the text is ASCII. For ASCII, both encodings produce the same bytes,
  // and latin1 is faster.
  afterFlush(() => response.end(text, size === text.length ? 'latin1' : 'utf8'))
  return true
}

async function sendCompressed(exchange: Exchange, text: string, coding: Coding, type: string) {
  const { response } = exchange
  const bytes = await compressors[coding](text)
  // ANSWER_TIMEOUT has passed, and the service has sent 503.
  if (response.headersSent) return true
  const content = ['content-type', type, 'content-length', bytes.length, 'content-encoding', coding]
  response.writeHead(200, headersOf(exchange, content)).end(bytes)
  return true
}

function headersOf({ call, responseHeaders }: Exchange, content: OutgoingHttpHeader[]) {
  const lines: OutgoingHttpHeader[] = [...responseHeaders, ...content]
  for (const [name, value] of call.context.reply) lines.push(name, value)
  return lines
}
