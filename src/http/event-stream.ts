import { getEventIteratorSchemaDetails } from '@orpc/contract'
import { AsyncIteratorClass, isAsyncIteratorObject } from '@orpc/shared'
import type { StandardHandlerOptions } from '@orpc/server/standard'
import { sendStandardResponse } from '@orpc/standard-server-node'
import type { ServerResponse } from 'node:http'

import { unavailable } from '../../contract/errors.ts'
import type { Context, Services } from '../context.ts'
import { EVENT_STREAM } from './datastar-events.ts'

export const isEventStream = (response: ServerResponse) => response.getHeader('content-type') === EVENT_STREAM

/**
 * Sends an event iterator as server-sent events. Reads the next event only when the client has received enough of the
 * earlier events, and ends the iterator when the client disconnects. A client that accepts no bytes for `timeout`
 * milliseconds is disconnected. Comments keep the connection active between two events.
 */
export async function sendEvents(
  response: ServerResponse,
  status: number,
  events: AsyncIterator<unknown>,
  timeout: number,
) {
  // ANSWER_TIMEOUT has passed, and the service has sent 503.
  const isLate = response.headersSent
  const isHead = response.req.method === 'HEAD'
  if (isLate || isHead) await events.return?.()
  if (isLate) return true
  response.setHeader('content-type', EVENT_STREAM)
  // Prevents nginx from collecting events in a buffer.
  response.setHeader('x-accel-buffering', 'no')
  response.setTimeout(timeout, () => response.destroy())
  const body = isHead ? undefined : events
  const options = { eventIteratorKeepAliveInterval: timeout / 3 }
  await sendStandardResponse(response, { status, headers: {}, body }, options)
  return true
}

type ClientInterceptor = NonNullable<StandardHandlerOptions<Context>['clientInterceptors']>[number]

/** Creates the interceptor that ends event iterators with an error (503) when the server closes. */
export const createIteratorEnd =
  ({ closing }: Services): ClientInterceptor =>
  async (options) => {
    const { procedure, signal = closing.signal, next } = options
    if (!getEventIteratorSchemaDetails(procedure['~orpc'].outputSchema)) return next()
    const output = await next({ ...options, signal: AbortSignal.any([signal, closing.signal]) })
    return isAsyncIteratorObject(output) ? endWithSignal(output, closing.signal) : output
  }

function endWithSignal(iterator: AsyncIterator<unknown>, signal: AbortSignal) {
  const next = () =>
    new Promise<IteratorResult<unknown>>((resolve, reject) => {
      const end = () => {
        reject(unavailable('The service is stopping; connect again'))
      }
      if (signal.aborted) end()
      signal.addEventListener('abort', end, { once: true })
      const stopListening = () => {
        signal.removeEventListener('abort', end)
      }
      iterator.next().then(resolve, reject).finally(stopListening)
    })
  return new AsyncIteratorClass(next, async () => {
    const ended = iterator.return?.()
    // A generator that waits for an event ends only after the event. The client must not wait for the end.
    if (!signal.aborted) await ended
  })
}
