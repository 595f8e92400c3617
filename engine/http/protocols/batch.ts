import { ORPCError } from '@orpc/client'
import { isAsyncIteratorObject } from '@orpc/shared'
import type { StandardResponse } from '@orpc/standard-server'
import { toBatchResponse } from '@orpc/standard-server/batch'
import type { ServerResponse } from 'node:http'
import { unavailable } from 'tallystick-contract/internal'

import type { Context, RequestAttributes } from '../../call/context.ts'
import { type ContextParts, createContext } from '../../guard/authentication.ts'
import type { Settings } from '../../settings/settings.ts'
import { MAX_PATH } from '../../telemetry/log.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import { type Item, readItems } from './batch-items.ts'
import { toKnownError } from '../server/errors.ts'
import { sendEvents } from './event-stream.ts'
import type { RunCall } from '../server/handler.ts'
import type { Call } from '../server/protocol.ts'
import { sendBody, setReplyHeaders } from '../server/send.ts'
import { isBatch, MAX_CALLS, refusedBatch, retryHeaders, rpcErrorBody } from './rpc-format.ts'
import { notFound } from '../server/request.ts'
import { MeasuredResponse } from '../server/connection.ts'

/** Occupies a slot of admission control. Returns the function that frees the slot. Undefined if no slot is free. */
export type OccupySlot = () => (() => void) | undefined

/** An answer of a batch, with the length of its body as JSON. */
type Part = StandardResponse & { index: number; length: number }

interface Calls {
  run: RunCall
  /** Returns the methods of the procedure with the path of a call. */
  methodsAt: (call: Call) => readonly string[]
  occupySlot: OccupySlot
}

interface Batch {
  call: Call
  response: ServerResponse
}

export interface BatchParts extends ContextParts {
  settings: Settings
  metrics?: Metrics | undefined
}

/** Maximum number of errors in the answer to a batch that is too long. */
const MAX_REFUSALS = 100

const badRequest = (message: string) => new ORPCError('BAD_REQUEST', { message })

/**
 * Creates the function that answers a batch of RPC calls. The request has passed the checks of every request: its
 * origin, and the size and the depth of its body. Each call has its own context, run of the guard, rate limits, log
 * line and metrics, and occupies its own slot of admission control.
 */
export function createBatch(parts: BatchParts, { run, methodsAt, occupySlot }: Calls) {
  const { settings, log } = parts
  const observe = createObserver(parts)

  const callOf = ({ call }: Batch, { target, headers, body }: Item, attributes: RequestAttributes): Call => {
    if (target.refusal) throw target.refusal
    if (isBatch(headers)) throw badRequest('A batch must not contain another batch')
    const context = createContext(
      parts,
      { ...call.request.headers, ...headers },
      {
        attributes,
        ipAddress: call.context.ipAddress,
        isAbandoned: call.context.isAbandoned,
        requestId: call.context.requestId,
        malformed: target.malformed,
      },
    )
    return { ...call, path: target.path, url: target.url, body, context }
  }

  const runCall = async (call: Call, { response }: Batch): Promise<StandardResponse> => {
    const result = await run(call)
    if (!result) throw methodsAt(call).length > 0 ? new ORPCError('METHOD_NOT_SUPPORTED') : notFound()
    if ('stream' in result) result.stream.close()
    if ('events' in result) await result.events.return?.()
    const headers = headersOf(call.context, response)
    if ('error' in result) return { ...errorResponse(result.error), headers }
    if (!('encoded' in result))
      throw badRequest('This procedure answers with events: call the procedure outside of a batch')
    const { status, text } = result.encoded
    return { status, headers, body: JSON.parse(text) }
  }

  const answerItem = async (batch: Batch, item: Item, index: number): Promise<Part> => {
    const attributes: RequestAttributes = {}
    const end = observe(batch.call, item, attributes)
    const finish = (result: StandardResponse): Part => {
      end(result.status)
      const length = JSON.stringify(result.body ?? null).length
      addWaiting(batch.response, length)
      return { ...result, index, length }
    }
    // The first call uses the slot of the request.
    const free = index === 0 ? () => undefined : occupySlot()
    if (!free) return finish(errorResponse(unavailable('The service is at its limit of concurrent requests')))
    try {
      return finish(await runCall(callOf(batch, item, attributes), batch))
    } catch (error) {
      return finish(errorResponse(toKnownError(error, log, batch.call.request.id)))
    } finally {
      free()
    }
  }

  return async (call: Call, response: ServerResponse) => {
    const { context, request } = call
    context.attributes.operation = '__batch__'
    const items = readItems(call, settings.baseUrl)
    if (items.length > MAX_CALLS) return refuseTooLong(response, items.length)
    // Renews the session before the calls, because the headers of the response are sent with the first answer. The calls
    // report an outage themselves.
    await context.caller().catch(() => undefined)
    setReplyHeaders(response, context.reply)
    const batch = { call, response }
    const parts = items.map((item, index) => answerItem(batch, item, index))
    await Promise.race(parts)
    const mode = request.headers['x-orpc-batch'] === 'buffered' ? 'buffered' : 'streaming'
    const answers = inOrderOfCompletion(parts, response)
    const { status, body } = await toBatchResponse({ status: 207, headers: {}, mode, body: answers })
    return isAsyncIteratorObject(body)
      ? sendEvents(response, status, body, settings.answerTimeout)
      : sendBody(response, status, JSON.stringify(body))
  }
}

const errorResponse = (error: ORPCError<string, unknown>): StandardResponse => ({
  status: error.status,
  headers: retryHeaders(error),
  body: rpcErrorBody(error),
})

function refuseTooLong(response: ServerResponse, calls: number) {
  const error = new ORPCError('PAYLOAD_TOO_LARGE', { message: `A batch may have at most ${MAX_CALLS} calls` })
  return sendBody(response, error.status, JSON.stringify(refusedBatch(error, Math.min(calls, MAX_REFUSALS))))
}

/**
 * Returns the headers of one answer. `Set-Cookie` is a header of the response instead: scripts can read the headers of
 * the answers, but must not read cookies.
 */
function headersOf({ reply }: Context, response: ServerResponse) {
  const { 'set-cookie': cookies, ...headers } = Object.fromEntries(reply)
  if (cookies !== undefined && !response.headersSent) response.appendHeader('set-cookie', cookies)
  return headers
}

function addWaiting(response: ServerResponse, length: number) {
  if (response instanceof MeasuredResponse) response.addWaiting(length)
}

async function* inOrderOfCompletion(parts: Promise<Part>[], response: ServerResponse) {
  const waiting = new Map(parts.entries())
  while (waiting.size > 0) {
    const part = await Promise.race(waiting.values())
    waiting.delete(part.index)
    const { length, ...answer } = part
    yield answer
    addWaiting(response, -length)
  }
}

/** Logs and counts each call of a batch like a request. The log line has the request id of the batch. */
const createObserver =
  ({ log, metrics }: BatchParts) =>
  ({ method, request: { id } }: Call, { target }: Item, attributes: RequestAttributes) => {
    const start = performance.now()
    const endMetrics = metrics?.startCall(attributes)
    return (status: number) => {
      endMetrics?.(status)
      const req = { id, method, path: target.path.slice(0, MAX_PATH) }
      const responseTime = Math.round(performance.now() - start)
      log.info({ req, res: { status }, responseTime, ...attributes }, 'call of a batch completed')
    }
  }
