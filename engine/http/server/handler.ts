import { toORPCError } from '@orpc/client'
import { ORPCError, validateORPCError } from '@orpc/server'
import { isAsyncIteratorObject, type Promisable } from '@orpc/shared'
import type { ServerResponse } from 'node:http'

import type { Settings } from '../../settings/settings.ts'
import type { Context } from '../../call/context.ts'
import { type Format, LiveEvents, type LiveStream } from '../../call/live-stream.ts'
import type { CompiledProcedure } from '../protocols/compile.ts'
import type { FindProcedures } from './body-limits.ts'
import { sendEvents, sendLive, type StreamParts } from '../protocols/event-stream.ts'
import type { Call, Protocol } from './protocol.ts'
import { sendError, sendOutput, setReplyHeaders } from './send.ts'
import { answersWritten } from './connection.ts'

/** The procedure that a request calls. */
export interface Match {
  procedure: CompiledProcedure
  /** The parameters in the path. */
  params?: Record<string, string> | undefined
}

/** The status and the body of an answer. */
export interface Encoded {
  status: number
  text: string
  /** The content type, by default `application/json`. */
  type?: string | undefined
}

/** How a protocol finds procedures, reads inputs and writes outputs. */
export interface WireFormat {
  find: (call: Call) => Match | undefined
  /** Finds the procedures that can answer a request, before its body is read. */
  listAt: FindProcedures
  /** Throws an error if the input cannot be read. */
  decode: (call: Call, match: Match) => Promisable<unknown>
  /** The implementation for Datastar (engine/http/protocols/datastar.ts) may call another procedure, to show its output. */
  encode: (output: unknown, procedure: CompiledProcedure, call: Call) => Promisable<Encoded>
  /** Converts the values of an event iterator. */
  encodeEvents: (events: unknown) => unknown
  /** Writes a state of a live stream as an event. */
  formatEvent: Format
  /** Whether an answer is 304 if `If-None-Match` contains its entity tag. */
  sendsNotModified?: true
  /** Whether Datastar's client reads the live streams. */
  isDatastar?: true
}

/** The result of a call. `error` contains only what the caller may see. */
export type Result =
  | { error: ORPCError<string, unknown> }
  | { encoded: Encoded }
  | { events: AsyncIteratorObject<unknown> }
  | { stream: LiveStream }

/** Calls a procedure. Returns undefined if the protocol has no procedure with the path and the method. */
export type RunCall = (call: Call) => Promise<Result | undefined>

/** Creates the function that calls the procedures of one protocol. */
export function createRunCall(format: WireFormat): RunCall {
  /** The answers of procedures with `fixedAnswer`. */
  const fixedAnswers = new Map<CompiledProcedure, Encoded>()

  return async (call) => {
    const match = format.find(call)
    if (!match) return undefined
    const { procedure } = match
    const { context } = call
    let input: unknown
    try {
      input = await format.decode(call, match)
    } catch (error) {
      // The guard throws this error after its own checks, because 401, 403, 404 and 429 have priority over 400.
      context.malformed ??= toBadRequest(error)
    }
    // A fixed answer needs no guard, because its procedure is public and has no limit: see engine/dev/testing/laws/.
    const fixedAnswer = context.malformed ? undefined : fixedAnswers.get(procedure)
    if (fixedAnswer) {
      context.attributes.operation = procedure.operation
      return { encoded: fixedAnswer }
    }

    let output: unknown
    try {
      output = await procedure.run(context, input)
    } catch (error) {
      return { error: await toCallerError(error, procedure) }
    }
    if (output instanceof LiveEvents) return { stream: output.stream }

    try {
      if (isAsyncIteratorObject(output)) return { events: format.encodeEvents(output) as typeof output }
      const encoded = await format.encode(output, procedure, call)
      if (procedure.meta.fixedAnswer) fixedAnswers.set(procedure, encoded)
      return { encoded }
    } catch (err) {
      // If `encode` has called another procedure, the guard of this procedure has already logged the error.
      if (!(err instanceof ORPCError))
        context.log.error(
          { err, procedure: procedure.operation, req: { id: context.requestId } },
          'a procedure failed',
        )
      return { error: await toCallerError(err, procedure) }
    }
  }
}

const toBadRequest = (cause: unknown): NonNullable<Context['malformed']> =>
  cause instanceof ORPCError && cause.code === 'BAD_REQUEST'
    ? (cause as ORPCError<'BAD_REQUEST', unknown>)
    : new ORPCError('BAD_REQUEST', { message: 'The input cannot be read', cause })

/**
 * An error other than an ORPCError becomes an internal error without details. An ORPCError that the contract does not
 * declare keeps its code, and is not marked as `defined`.
 */
const toCallerError = async (
  error: unknown,
  { errorMap }: CompiledProcedure,
): Promise<ORPCError<string, unknown>> =>
  toORPCError(error instanceof ORPCError ? await validateORPCError(errorMap, error) : error)

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

export interface HandlerParts extends StreamParts {
  settings: Settings
}

/** Creates a protocol that calls procedures. RPC and Datastar give their own `run`, for batches and for patches of the page. */
export function createHandler(
  { settings, log, metrics, closing }: HandlerParts,
  format: WireFormat,
  run = createRunCall(format),
) {
  const { find, formatEvent, sendsNotModified, isDatastar } = format
  const answer = async (call: Call, response: ServerResponse) => {
    const result = await run(call)
    if (!result) return false
    const { reply } = call.context
    if ('encoded' in result) return sendOutput({ call, response }, result.encoded, sendsNotModified)
    // `sendLive` closes the connection if earlier requests on it have no answer yet, so the answers that are ready are written first.
    if ('stream' in result || 'events' in result) await answersWritten()
    if ('stream' in result) {
      const { stream } = result
      return sendLive({ response, reply, stream, format: formatEvent, isDatastar, log, metrics, closing })
    }
    setReplyHeaders(response, reply)
    if ('error' in result) return sendError(response, result.error)
    return sendEvents(response, 200, result.events, settings.answerTimeout)
  }
  const methodsAt = (call: Call) => METHODS.filter((method) => find({ ...call, method }))
  return Object.assign(answer, { methodsAt }) satisfies Protocol
}
