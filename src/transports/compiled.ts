import { toORPCError } from '@orpc/client'
import { StandardRPCJsonSerializer, StandardRPCSerializer } from '@orpc/client/standard'
import type { AnySchema, ErrorMap } from '@orpc/contract'
import { StandardOpenAPICodec, StandardOpenAPIMatcher } from '@orpc/openapi/standard'
import {
  StandardBracketNotationSerializer,
  StandardOpenAPIJsonSerializer,
  StandardOpenAPISerializer,
} from '@orpc/openapi-client/standard'
import {
  type AnyMiddleware,
  type AnyProcedure,
  createORPCErrorConstructorMap,
  type MiddlewareNextFn,
  middlewareOutputFn,
  ORPCError,
  validateORPCError,
  ValidationError,
} from '@orpc/server'
import {
  type StandardCodec,
  type StandardMatcher,
  StandardRPCCodec,
  StandardRPCMatcher,
} from '@orpc/server/standard'
import type { StandardResponse } from '@orpc/standard-server'
import type { IncomingHttpHeaders } from 'node:http'

import { metaOf } from '../../contract/base.ts'
import { errorBody } from '../../contract/errors.ts'
import { firstForm } from '../../contract/legacy-notes.ts'
import { router } from '../procedures/index.ts'
import { FORM_HEADERS } from './datastar.ts'
import { isFirstForm, ofForm } from './rest.ts'
import { answer, sendReply, type Transport } from './transport.ts'

/** What @orpc/server 1.16.1 keeps of a procedure. */
interface Definition {
  middlewares: readonly AnyMiddleware[]
  handler(options: object): unknown
  errorMap: ErrorMap
  inputSchema?: AnySchema
  outputSchema?: AnySchema
  inputValidationIndex: number
  outputValidationIndex: number
}

const definitionOf = (procedure: AnyProcedure): Definition => procedure['~orpc']

/** A procedure as one function, with all that is the same for every call done before the first. */
type Run = (context: object, input: unknown) => unknown

/**
 * Does what oRPC's own client of a procedure does, in a third of its promises. `checks` are of our own answers: what the
 * contract does not promise fails where it is written, so that nothing need be taken away in production.
 */
export function compile(procedure: AnyProcedure, path: readonly string[], checks: boolean): Run {
  const { middlewares, handler, errorMap, inputSchema, outputSchema, ...positions } = definitionOf(procedure)
  const inputValidationIndex = Math.min(positions.inputValidationIndex, middlewares.length)
  const outputValidationIndex = Math.min(positions.outputValidationIndex, middlewares.length)
  const errors = createORPCErrorConstructorMap(errorMap)

  const around =
    (middleware: AnyMiddleware, inner: Run): Run =>
    async (context, input) => {
      const next = async (given?: { context?: object }) => ({
        output: await inner(given?.context ? { ...context, ...given.context } : context, input),
        context: given?.context ?? NOTHING,
      })
      const options = {
        procedure,
        path,
        errors,
        lastEventId: undefined,
        context,
        next: next as MiddlewareNextFn<unknown>,
      }
      return (await middleware(options, input, middlewareOutputFn)).output as unknown
    }
  const checkInput =
    (schema: AnySchema, inner: Run): Run =>
    async (context, input) => {
      const result = await schema['~standard'].validate(input)
      if (!result.issues) return inner(context, result.value)
      const broken = { message: 'Input validation failed', issues: result.issues, data: input }
      throw new ORPCError('BAD_REQUEST', { cause: new ValidationError(broken) })
    }
  const checkOutput =
    (schema: AnySchema, inner: Run): Run =>
    async (context, input) => {
      const output = await inner(context, input)
      const result = await schema['~standard'].validate(output)
      if (result.issues || JSON.stringify(result.value) !== JSON.stringify(output))
        throw new Error(`${path.join('.')} answers something else than its contract promises`)
      return output
    }

  let run: Run = (context, input) =>
    handler({ procedure, path, errors, lastEventId: undefined, context, input })
  for (let index = middlewares.length; index >= 0; index--) {
    const middleware = middlewares[index]
    if (middleware) run = around(middleware, run)
    if (inputSchema && index === inputValidationIndex) run = checkInput(inputSchema, run)
    if (outputSchema && checks && index === outputValidationIndex) run = checkOutput(outputSchema, run)
  }
  return run
}

const NOTHING = {}

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

/** Anything that the stock handlers would look at twice is left to them. */
const isUsual = (headers: IncomingHttpHeaders) =>
  headers['datastar-request'] === undefined && !/;|event-stream/i.test(headers.accept ?? '')

const RPC = '/rpc/'

/** An address without a query. */
const NOWHERE = new URL('http://localhost')

/**
 * REST and RPC for the usual request, at half the cost of oRPC's stock handlers, which answer all others: the same
 * matcher, codec and procedures, without what a handler does anew for each call. Answers equal theirs byte for byte.
 */
export function createCompiled(checks: boolean): Transport {
  const protocols = { rpc: rpc(), 1: rest(1), 2: rest(2) }
  for (const { matcher } of Object.values(protocols)) matcher.init(router)
  const compiled = new WeakMap<AnyProcedure, Run>()
  const runOf = (procedure: AnyProcedure, path: readonly string[]) => {
    const run = compiled.get(procedure) ?? compile(procedure, path, checks)
    compiled.set(procedure, run)
    return run
  }
  const constants = new Map<string, string>()

  return async ({ plainPath, method, body, context, request: { headers } }, response) => {
    if (plainPath === undefined || !isUsual(headers)) return false
    const isRpc = plainPath.startsWith(RPC)
    if (isRpc && (method !== 'POST' || (body && 'meta' in body))) return false
    const { matcher, codec } = protocols[isRpc ? 'rpc' : isFirstForm(body) ? 1 : 2]
    const match = await matcher.match(method, isRpc ? `/${plainPath.slice(RPC.length)}` : plainPath)
    if (!match) return false

    const { procedure, path, params } = match
    const { constant, form } = metaOf(procedure)
    const send = (status: number, text: string) => {
      sendReply(response, context.reply)
      if (!isRpc) response.appendHeader('vary', FORM_HEADERS)
      return answer(response, status, text)
    }
    const isConstant = constant && headers.authorization === undefined && !context.malformed
    const known = isConstant ? constants.get(plainPath) : undefined
    if (known !== undefined) return send(200, known)

    const request = { method, url: NOWHERE, headers, body: () => Promise.resolve(body), signal: undefined }
    let result: StandardResponse
    try {
      const input = await codec.decode(request, params, procedure)
      const output = await runOf(procedure, path)(context, input)
      result = codec.encode(output, procedure)
      if (!isRpc && form === 1) response.setHeader('content-type', firstForm)
    } catch (error) {
      const { errorMap } = definitionOf(procedure)
      const known = error instanceof ORPCError ? await validateORPCError(errorMap, error) : error
      result = codec.encodeError(toORPCError(known))
    }
    const text = JSON.stringify(result.body)
    if (isConstant && result.status === 200) constants.set(plainPath, text)
    return send(result.status, text)
  }
}
