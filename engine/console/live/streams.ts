import { ORPCError } from '@orpc/server'
import { createRestClient } from 'tallystick-contract/internal'

import type { App } from '../../app/resource.ts'
import type { CallerChoice } from '../contract.ts'
import type { Credentials } from '../credentials.ts'

/** Maximum number of streams that the console keeps open. The oldest stream ends first. */
const MAX_STREAMS = 10

interface Parts {
  app: Pick<App, 'contract'>
  credentials: Credentials
  /** Returns the recorded stream of a request. */
  findStream: (requestId: string) => string | undefined
}

/**
 * Opens `live.watch` over REST as a person. The recorder shows the events, as of all streams, so the events are discarded here. The
 * console does not keep a request of the page open, because a browser opens only six connections for an origin.
 */
export function createStreams({ app, credentials, findStream }: Parts) {
  const controllers = new Map<string, AbortController>()

  const close = (id: string) => {
    controllers.get(id)?.abort()
    controllers.delete(id)
  }

  return {
    async open(input: unknown, caller: CallerChoice) {
      const controller = new AbortController()
      let requestId = ''
      const client: unknown = createRestClient(app.contract, credentials.origin, {
        headers: await credentials.headersOf(caller),
        fetch: async (url, init) => {
          const response = await fetch(url, init)
          requestId = response.headers.get('x-request-id') ?? ''
          return response
        },
      })
      const { live } = client as { live: { watch: Watch } }
      const events = await live.watch(input, { signal: controller.signal }).catch((error: unknown) => {
        // With a new attempt, a person signs in again: the session or the token may have ended.
        credentials.forget(caller)
        throw new ORPCError('BAD_REQUEST', {
          message: error instanceof Error ? error.message : String(error),
        })
      })
      const id = findStream(requestId)
      if (id === undefined) {
        controller.abort()
        throw new ORPCError('BAD_REQUEST', { message: 'The stream has ended' })
      }
      controllers.set(id, controller)
      const [oldest = ''] = controllers.keys()
      if (controllers.size > MAX_STREAMS) close(oldest)
      void discard(events).finally(() => controllers.delete(id))
      return id
    },
    has: (id: string) => controllers.has(id),
    close,
    closeAll: () => {
      for (const id of controllers.keys()) close(id)
    },
  }
}

type Watch = (input: unknown, options: { signal: AbortSignal }) => Promise<AsyncIterable<unknown>>

/** Reads events until the end of the stream. */
async function discard(events: AsyncIterable<unknown>) {
  try {
    for await (const _ of events);
  } catch {
    // The stream was closed, or the session has ended, which the recorder shows.
  }
}
