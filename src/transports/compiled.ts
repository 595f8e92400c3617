import { toORPCError } from '@orpc/client'
import { StandardRPCJsonSerializer, StandardRPCSerializer } from '@orpc/client/standard'
import { StandardOpenAPICodec, StandardOpenAPIMatcher } from '@orpc/openapi/standard'
import {
  StandardBracketNotationSerializer,
  StandardOpenAPIJsonSerializer,
  StandardOpenAPISerializer,
} from '@orpc/openapi-client/standard'
import { type AnyProcedure, ORPCError, validateORPCError } from '@orpc/server'
import {
  type StandardCodec,
  type StandardMatcher,
  StandardRPCCodec,
  StandardRPCMatcher,
} from '@orpc/server/standard'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'

import { errorBody } from '../../contract/errors.ts'
import { firstForm } from '../../contract/legacy-notes.ts'
import { router } from '../procedures/index.ts'
import { type Compiled, compile } from './compile.ts'
import { FORM_HEADERS } from './datastar.ts'
import { isFirstForm, ofForm } from './rest.ts'
import { type Call, isKnown } from './transport.ts'

interface Protocol {
  matcher: StandardMatcher
  codec: StandardCodec
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

/** Like any transport, but that it writes the headers of every answer itself, in one go. */
type CompiledTransport = (call: Call, response: ServerResponse, head: readonly string[]) => Promise<boolean>

/** Anything that the stock handlers would look at twice is left to them. */
const isUsual = (headers: IncomingHttpHeaders) =>
  headers['datastar-request'] === undefined && !/;|event-stream/i.test(headers.accept ?? '')

const RPC = '/rpc/'

/** An address without a query. */
const NOWHERE = new URL('http://localhost')

/**
 * REST and RPC for the usual request, at a fraction of what oRPC's stock handlers cost, which answer all others: the same
 * matcher, codec and procedures, without what a handler does anew for each call. Answers equal theirs byte for byte.
 * `checks` are of our own answers: see compile.
 */
export function createCompiled(checks: boolean): CompiledTransport {
  const protocols = { rpc: rpc(), 1: rest(1), 2: rest(2) }
  for (const { matcher } of Object.values(protocols)) matcher.init(router)
  const compiled = new WeakMap<AnyProcedure, Compiled>()
  const compiledOf = (procedure: AnyProcedure, path: readonly string[]) => {
    const known = compiled.get(procedure) ?? compile(procedure, path, checks)
    compiled.set(procedure, known)
    return known
  }
  const constants = new Map<string, { text: string; operation: string }>()

  return async (call, response, head) => {
    const { plainPath, method, body, context } = call
    const { headers } = call.request
    if (plainPath === undefined || !isUsual(headers)) return false
    const isRpc = plainPath.startsWith(RPC)
    const send = (status: number, text: string, type = 'application/json') => {
      const lines = [...head]
      if (status !== 304) lines.push('content-type', type, 'content-length', String(Buffer.byteLength(text)))
      if (!isRpc) lines.push('vary', FORM_HEADERS)
      for (const [name, value] of context.reply) for (const each of [value].flat()) lines.push(name, each)
      response.writeHead(status, lines).end(text)
      return true
    }
    const address = `${method} ${plainPath}`
    const mayBeKept = headers.authorization === undefined && !context.malformed
    const kept = mayBeKept ? constants.get(address) : undefined
    if (kept) {
      context.seen.operation = kept.operation
      return send(200, kept.text)
    }
    if (isRpc && (method !== 'POST' || (body && 'meta' in body))) return false
    const { matcher, codec } = protocols[isRpc ? 'rpc' : isFirstForm(body) ? 1 : 2]
    const match = await matcher.match(method, isRpc ? `/${plainPath.slice(RPC.length)}` : plainPath)
    if (!match) return false

    const { procedure, params, path } = match
    const { run, errorMap, meta, isPlain } = compiledOf(procedure, path)

    try {
      const request = { method, url: NOWHERE, headers, body: () => Promise.resolve(body), signal: undefined }
      const output = await run(context, await codec.decode(request, params, procedure))
      const plain = { status: 200, body: isRpc ? { json: output } : output }
      const result = isPlain ? plain : codec.encode(output, procedure)
      const text = JSON.stringify(result.body)
      if (meta.constant && isPlain) constants.set(address, { text, operation: path.join('.') })
      const status = !isRpc && isKnown(call) ? 304 : result.status
      return send(status, text, !isRpc && meta.form === 1 ? firstForm : undefined)
    } catch (error) {
      const known = error instanceof ORPCError ? await validateORPCError(errorMap, error) : error
      const refusal = codec.encodeError(toORPCError(known))
      return send(refusal.status, JSON.stringify(refusal.body))
    }
  }
}
