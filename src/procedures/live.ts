import { callerByTopic } from '../guard/index.ts'
import { LiveEvents } from '../live-stream.ts'
import type { Resource } from '../resource.ts'

const os = callerByTopic.live

const procedures = os.router({
  watch: os.watch.handler(async ({ context, input, lastEventId, signal }) => {
    const { live, watcher, address, reply, isDatastar = false } = context
    const stream = await live.open({
      topics: input.topics,
      input,
      caller: watcher,
      address: address?.(),
      reply,
      lastEventId,
      isDatastar,
      signal,
    })
    return new LiveEvents(stream)
  }),
})

export const live = {
  procedures,
} satisfies Resource
