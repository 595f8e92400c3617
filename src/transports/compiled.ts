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
import type { IncomingHttpHeaders, OutgoingHttpHeader, ServerResponse } from 'node:http'

import { errorBody } from '../../contract/errors.ts'
import { firstForm } from '../../contract/legacy-notes.ts'
import { after, attempt } from '../after.ts'
import { router } from '../procedures/index.ts'
import { afterTurn } from '../turn.ts'
import { type Compiled, compile } from './compile.ts'
import { isFirstForm, ofForm } from './rest.ts'
import { type Call, isKnown } from './transport.ts'

interface Protocol {
  matcher: StandardMatcher
  codec: StandardCodec
}

/** What an address leads to. */
interface Route extends Compiled {
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
  }
}

const rpc = (): Protocol => ({
  matcher: new StandardRPCMatcher(),
  codec: new StandardRPCCodec(new StandardRPCSerializer(new StandardRPCJsonSerializer())),
})

/** Like any transport, but that it writes the headers of every answer itself, in one go, and at once where it can. */
type CompiledTransport = (
  call: Call,
  response: ServerResponse,
  head: readonly string[],
) => boolean | Promise<boolean>

/** Anything that the stock handlers would look at twice is left to them. */
const isUsual = (headers: IncomingHttpHeaders) =>
  headers['datastar-request'] === undefined && !/;|event-stream/i.test(headers.accept ?? '')

const RPC = '/rpc/'

/**
 * REST and RPC for the usual request, at a fraction of what oRPC's stock handlers cost, which answer all others: the same
 * matcher, codec and procedures, without what a handler does anew for each call. Answers equal theirs byte for byte.
 * `checks` are of our own answers: see compile.
 */
export function createCompiled(checks: boolean): CompiledTransport {
  const withRoutes = finder(checks)
  const protocols = { rpc: withRoutes(rpc()), 1: withRoutes(rest(1)), 2: withRoutes(rest(2)) }

  return (call, response, head) => {
    const { plainPath, method, body, context } = call
    const { headers } = call.request
    if (plainPath === undefined || !isUsual(headers)) return false
    const isRpc = plainPath.startsWith(RPC)
    if (isRpc && (method !== 'POST' || (body && 'meta' in body))) return false
    const { codec, find } = protocols[isRpc ? 'rpc' : isFirstForm(body) ? 1 : 2]

    const send = (status: number, text: string, type = 'application/json') => {
      const lines: OutgoingHttpHeader[] = [...head]
      if (status !== 304) lines.push('content-type', type, 'content-length', Buffer.byteLength(text))
      for (const [name, value] of context.reply) lines.push(name, value)
      response.writeHead(status, lines)
      afterTurn(() => response.end(text))
      return true
    }

    const sendOutput = (route: Route, output: unknown) => {
      const { procedure, meta, isPlain } = route
      const plain = { status: 200, body: isRpc ? { json: output } : output }
      const result = isPlain ? plain : codec.encode(output, procedure)
      const text = JSON.stringify(result.body)
      if (meta.constant && isPlain) route.text = text
      const status = !isRpc && isKnown(call) ? 304 : result.status
      return send(status, text, !isRpc && meta.form === 1 ? firstForm : undefined)
    }

    const serve = (route: Route) => {
      const { params, run, errorMap } = route
      const given = isRpc ? body?.json : method === 'GET' ? {} : body
      return attempt(
        () =>
          after(run(context, params ? { ...body, ...params } : given), (output) => sendOutput(route, output)),
        async (error) => {
          const known = error instanceof ORPCError ? await validateORPCError(errorMap, error) : error
          const refusal = codec.encodeError(toORPCError(known))
          return send(refusal.status, JSON.stringify(refusal.body))
        },
      )
    }

    return after(find(method, isRpc ? `/${plainPath.slice(RPC.length)}` : plainPath), (route) => {
      if (!route) return false
      const { text, operation } = route
      if (text === undefined || headers.authorization !== undefined || context.malformed) return serve(route)
      context.seen.operation = operation
      return send(200, text)
    })
  }
}

/** Finds what an address leads to, and for one without parameters remembers it. */
function finder(checks: boolean) {
  const compiled = new WeakMap<AnyProcedure, Compiled>()
  const compiledOf = (procedure: AnyProcedure, path: readonly string[]) => {
    const known = compiled.get(procedure) ?? compile(procedure, path, checks)
    compiled.set(procedure, known)
    return known
  }
  return ({ matcher, codec }: Protocol) => {
    matcher.init(router)
    const routes = new Map<string, Map<string, Route>>()
    const look = async (method: string, path: HTTPPath): Promise<Route | undefined> => {
      const match = await matcher.match(method, path)
      if (!match) return undefined
      const { procedure, params } = match
      const route = {
        ...compiledOf(procedure, match.path),
        procedure,
        operation: match.path.join('.'),
        params,
      }
      if (!params) routes.set(path, new Map(routes.get(path)).set(method, route))
      return route
    }
    const find = (method: string, path: HTTPPath) => routes.get(path)?.get(method) ?? look(method, path)
    return { codec, find }
  }
}
