import { AsyncIteratorClass, type ClientContext, getEventMeta, ORPCError } from '@orpc/client'
import type { ClientRetryPluginContext } from '@orpc/client/plugins'
import type { StandardLinkOptions } from '@orpc/client/standard'

/**
 * Limits of the delay before the client connects again, in milliseconds. The delay is random, because many clients lose
 * their connections at the same time. Its upper limit begins at `FIRST_DELAY`, and doubles with each failure.
 */
const FIRST_DELAY = 1000
const MAX_DELAY = 10_000

/** The argument of an interceptor of a link. `next` runs the call. */
type InterceptedCall<Context extends ClientContext> = Parameters<
  Required<StandardLinkOptions<Context>>['interceptors'][number]
>[0]

export interface ResumeContext {
  /**
   * Called before the client resumes a stream of `live.watch`. The client calls the returned function with the result of
   * the attempt.
   */
  onRetry?: ClientRetryPluginContext['onRetry']
}

/**
 * An interceptor that resumes `live.watch` after a lost connection. The service continues after the last event that the
 * client has received. Does not change other calls.
 *
 * Has the same purpose as oRPC's ClientRetryPlugin, and differs from the plugin as follows:
 *
 * - The end of a stream is a lost connection, because the service ends a stream if the session is revoked or if the
 *   service stops. After a revocation, the next attempt receives the error 401 or 403.
 * - `return()` and `signal` also end the delay between two attempts.
 * - The delay depends on the failures since the last event or the last lasting connection, not on all failures.
 *
 * A ClientRetryPlugin of the link does not retry `live.watch` in addition, unless the context of the call has `retry`. In
 * this case, the interceptor does nothing.
 */
export async function resume<Context extends ResumeContext>(
  call: InterceptedCall<Context>,
): Promise<unknown> {
  const { context, next } = call
  if (call.path.join('.') !== 'live.watch' || 'retry' in context) return next()
  const stop = new AbortController()
  const signal = call.signal ? AbortSignal.any([call.signal, stop.signal]) : stop.signal
  let { lastEventId } = call
  let lastEventRetry: number | undefined
  /** Number of failures since the last event, or since a connection that lasted longer than MAX_DELAY. */
  let failures = 0
  /** The time at which the stream was opened. Infinity without an open stream. */
  let connectedAt = Infinity

  const connect = async () => {
    const answer = await next({ ...call, signal, lastEventId, context: { ...context, retry: 0 } })
    // Temporary, as each error that is no ORPCError: a proxy can answer while the service starts again.
    if (!isEventStream(answer)) throw new TypeError('The answer is not an event stream')
    connectedAt = Date.now()
    return answer
  }
  const reconnectAfter = async (error: unknown) => {
    for (;;) {
      signal.throwIfAborted()
      if (!isTemporary(error)) throw error
      if (Date.now() - connectedAt > MAX_DELAY) failures = 0
      connectedAt = Infinity
      const reportResult = context.onRetry?.({ ...call, attemptIndex: failures, error, lastEventRetry })
      const delay = Math.random() * Math.min(FIRST_DELAY * 2 ** failures++, MAX_DELAY)
      await sleep((lastEventRetry ?? 0) + delay, signal)
      try {
        const answer = await connect()
        reportResult?.(true)
        return answer
      } catch (cause) {
        reportResult?.(false)
        error = cause
      }
    }
  }
  let events = await connect().catch(reconnectAfter)
  // In Node, an abort does not reach the body of an answer whose request has been collected as garbage.
  signal.addEventListener('abort', () => void events.return?.().catch(() => undefined))

  const nextEvent = async (): Promise<IteratorResult<unknown>> => {
    for (;;) {
      try {
        const event = await events.next()
        const { id = lastEventId, retry = lastEventRetry } = getEventMeta(event.value) ?? {}
        lastEventId = id
        lastEventRetry = retry
        // An error that is no ORPCError is temporary, so the client connects again.
        if (event.done) throw new TypeError('The service ended the stream')
        failures = 0
        return event
      } catch (error) {
        events = await reconnectAfter(error)
      }
    }
  }
  return new AsyncIteratorClass<unknown>(
    () =>
      nextEvent().catch((error: unknown) => {
        if (stop.signal.aborted) return { done: true, value: undefined }
        throw error
      }),
    () => {
      stop.abort()
      return Promise.resolve()
    },
  )
}

/** Returns whether the same call may succeed later: the service did not answer, refuses calls above a limit, or has failed. */
const isTemporary = (error: unknown) =>
  !(error instanceof ORPCError) || error.status >= 500 || error.status === 429

const isEventStream = (answer: unknown): answer is AsyncIterator<unknown> =>
  Symbol.asyncIterator in Object(answer)

/** Waits. An abort of the signal ends the wait. */
const sleep = (delay: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const finish = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', finish)
      resolve()
    }
    const timer = setTimeout(finish, delay)
    signal.addEventListener('abort', finish)
    if (signal.aborted) finish()
  })
