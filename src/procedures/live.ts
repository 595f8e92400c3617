import { AsyncIteratorClass } from '@orpc/shared'
import { withEventMeta } from '@orpc/server'

import type { LiveUpdate } from '../../contract/live.ts'
import type { LiveStream } from '../context.ts'
import { callerByTopic } from '../guard/index.ts'

const os = callerByTopic.live

export const live = os.router({
  watch: os.watch.handler(async ({ context, input, lastEventId, signal }) => {
    const { live, watcher, address, reply, isFirstForm = false, opened } = context
    const stream = await live.open({
      ...input,
      caller: watcher,
      address: address?.(),
      reply,
      lastEventId,
      isFirstForm,
      signal,
    })
    if (opened) opened.stream = stream
    return eventsOf(stream)
  }),
})

/** Returns the event iterator of a stream, for callers in this process. */
const eventsOf = (stream: LiveStream) =>
  new AsyncIteratorClass<LiveUpdate, void, void>(
    async () => {
      const delivery = await stream.next()
      if (!delivery) return { done: true, value: undefined }
      const { topic, state } = delivery.snapshot
      return { done: false, value: withEventMeta({ topic, state } as LiveUpdate, { id: delivery.id }) }
    },
    () => {
      stream.close()
      return Promise.resolve()
    },
  )
