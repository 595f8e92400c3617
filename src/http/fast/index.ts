import { toORPCError } from '@orpc/client'
import { StandardRPCJsonSerializer, StandardRPCSerializer } from '@orpc/client/standard'
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
import type { IncomingHttpHeaders, OutgoingHttpHeader, ServerResponse } from 'node:http'

import { errorBody } from '../../../contract/errors.ts'
import { firstFormMediaType } from '../../../contract/legacy-notes.ts'
import { mapMaybePromise, catchMaybePromise } from '../../maybe-promise.ts'
import { router } from '../../procedures/index.ts'
import { afterFlush } from '../tick.ts'
import { type CompiledProcedure, compile } from './compile.ts'
import { isFirstForm, ofForm } from '../rest.ts'
import { type Call, isNotModified } from '../protocol.ts'

interface Protocol {
  matcher: StandardMatcher
  codec: StandardCodec
  inputOf: (call: Call) => unknown
  /** The text of an answer, from the JSON of the output. */
  wrap: (json: string) => string
  /** Whether answers say in HTTP what they are: of the first form, or what the caller has already. */
  isRest: boolean
}

/** What an address leads to. */
interface Route extends CompiledProcedure {
  procedure: AnyProcedure
  operation: string
  params?: StandardParams
  /** Its answer, where that is the same for all and was made once. */
  text?: string
}

function rest(form: 1 | 2): Protocol {
  const json = new StandardOpenAPIJsonSerializer()
  const serializer = new StandardOpenAPISerializer(json, new StandardBracketNotationSerializer())
  return {
    matcher: new StandardOpenAPIMatcher({ filter: ofForm(form) }),
    codec: new StandardOpenAPICodec(serializer, { customErrorResponseBodyEncoder: errorBody }),
    inputOf: ({ method, body }) => (method === 'GET' ? {} : body),
    wrap: (json) => json,
    isRest: true,
  }
}

const rpc = (): Protocol => ({
  matcher: new StandardRPCMatcher(),
  codec: new StandardRPCCodec(new StandardRPCSerializer(new StandardRPCJsonSerializer())),
  inputOf: ({ body }) => body?.json,
  wrap: (json) => `{"json":${json}}`,
  isRest: false,
})

/** A call, and where its answer goes. */
interface Exchange {
  call: Call
  response: ServerResponse
  head: readonly string[]
}

/** Like any transport, but that it writes the headers of every answer itself, in one go, and at once where it can. */
type CompiledTransport = (exchange: Exchange) => Promisable<boolean>

/** Anything that the stock handlers would look at twice is left to them. */
const isUsual = (headers: IncomingHttpHeaders) =>
  headers['datastar-request'] === undefined && !/;|event-stream/i.test(headers.accept ?? '')

const RPC = '/rpc/'

/**
 * REST and RPC for the usual request, at a fraction of what oRPC's stock handlers cost, which answer all others: the same
 * matcher, codec and procedures, without what a handler does anew for each call. Answers equal theirs byte for byte.
 * `checks` are of our own answers: see compile.
 */
export function createFastPath(checks: boolean): CompiledTransport {
  const compiled = new WeakMap<AnyProcedure, CompiledProcedure>()
  const compiledOf: CompiledOf = (procedure, path) => {
    const known = compiled.get(procedure) ?? compile(procedure, path, checks)
    compiled.set(procedure, known)
    return known
  }
  const overRpc = createAnswerer(rpc(), compiledOf)
  const overRest = { 1: createAnswerer(rest(1), compiledOf), 2: createAnswerer(rest(2), compiledOf) }

  return (exchange) => {
    const { plainPath, method, body, request } = exchange.call
    if (plainPath === undefined || !isUsual(request.headers)) return false
    if (!plainPath.startsWith(RPC)) return overRest[isFirstForm(body) ? 1 : 2](exchange, plainPath)
    return (
      method === 'POST' && !(body && 'meta' in body) && overRpc(exchange, `/${plainPath.slice(RPC.length)}`)
    )
  }
}

type CompiledOf = (procedure: AnyProcedure, path: readonly string[]) => CompiledProcedure

/** Answers what is called at a path, in one protocol. */
function createAnswerer(protocol: Protocol, compiledOf: CompiledOf) {
  const { codec, inputOf, wrap, isRest } = protocol
  const find = createFinder(protocol, compiledOf)

  const encode = ({ call }: Exchange, { procedure, serialize, operation }: Route, output: unknown) => {
    if (!serialize) {
      const { status, body } = codec.encode(output, procedure)
      return { status, text: JSON.stringify(body) }
    }
    try {
      return { status: 200, text: wrap(serialize(output)) }
    } catch (err) {
      // The guard has returned already: an output that breaks its contract is logged here.
      call.context.log.error({ err, procedure: operation }, 'a procedure failed')
      throw err
    }
  }

  const sendOutput = (exchange: Exchange, route: Route, output: unknown) => {
    const { status, text } = encode(exchange, route, output)
    if (route.meta.constant && route.serialize) route.text = text
    if (!isRest) return send(exchange, status, text)
    const type = route.meta.form === 1 ? firstFormMediaType : undefined
    return send(exchange, isNotModified(exchange.call) ? 304 : status, text, type)
  }

  const sendError = async (exchange: Exchange, { errorMap }: Route, error: unknown) => {
    const known = error instanceof ORPCError ? await validateORPCError(errorMap, error) : error
    const { status, body } = codec.encodeError(toORPCError(known))
    return send(exchange, status, JSON.stringify(body))
  }

  const serve = (exchange: Exchange, route: Route) => {
    const { call } = exchange
    const input = route.params ? { ...call.body, ...route.params } : inputOf(call)
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

/** Finds what an address leads to, and for one without parameters remembers it. */
function createFinder({ matcher }: Protocol, compiledOf: CompiledOf) {
  matcher.init(router)
  const routes = new Map<string, Map<string, Route>>()
  const look = async (method: string, path: HTTPPath): Promise<Route | undefined> => {
    const match = await matcher.match(method, path)
    if (!match) return undefined
    const { procedure, params } = match
    const route = { ...compiledOf(procedure, match.path), procedure, operation: match.path.join('.'), params }
    if (!params) routes.set(path, new Map(routes.get(path)).set(method, route))
    return route
  }
  return (method: string, path: HTTPPath) => routes.get(path)?.get(method) ?? look(method, path)
}

function send({ call, response, head }: Exchange, status: number, text: string, type = 'application/json') {
  const size = Buffer.byteLength(text)
  const lines: OutgoingHttpHeader[] = [...head]
  if (status !== 304) lines.push('content-type', type, 'content-length', size)
  for (const [name, value] of call.context.reply) lines.push(name, value)
  response.writeHead(status, lines)
  // Where it is all ASCII the bytes are the same, and cost less to make.
  afterFlush(() => response.end(text, size === text.length ? 'latin1' : 'utf8'))
  return true
}
