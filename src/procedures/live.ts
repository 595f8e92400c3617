import { callerByTopic } from '../guard/index.ts'
import { LiveEvents } from '../live-stream.ts'

const os = callerByTopic.live

export const live = os.router({
  watch: os.watch.handler(async ({ context, input, lastEventId, signal }) => {
    const { live, watcher, address, reply, isFirstForm = false } = context
    const stream = await live.open({
      ...input,
      caller: watcher,
      address: address?.(),
      reply,
      lastEventId,
      isFirstForm,
      signal,
    })
    return new LiveEvents(stream)
  }),
})
