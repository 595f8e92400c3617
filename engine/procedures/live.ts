import { implement } from '@orpc/server'
import { isObject } from '@orpc/shared'
import type { EngineContract } from 'tallystick-contract/internal'

import type { Context } from '../call/context.ts'
import { callerByTopic } from '../guard/index.ts'
import { LiveEvents } from '../call/live-stream.ts'
import type { Resource } from '../app/resource.ts'

/** The topics depend on the resources of the application. */
export function createLive(contract: EngineContract['live']) {
  const os = implement(contract).$context<Context>().use(callerByTopic)
  const procedures = os.router({
    watch: os.watch.handler(async ({ context, input, lastEventId, signal }) => {
      const { live, watcher, given, ipAddress, headers, reply, isDatastar = false } = context
      const stream = await live.open({
        topics: input.topics,
        input,
        // The input before its validation: the procedures that read the topics validate their inputs themselves.
        given: isObject(given) ? given : {},
        caller: watcher,
        ipAddress: ipAddress?.(),
        headers,
        reply,
        lastEventId,
        isDatastar,
        signal,
      })
      return new LiveEvents(stream)
    }),
  })
  return {
    description: 'Changes of the other resources, as server-sent events.',
    procedures,
  } satisfies Resource
}
