import { withEventMeta } from '@orpc/server'
import { AsyncIteratorClass } from '@orpc/shared'

import type { LiveUpdate } from '../contract/live.ts'
import type { LiveStream } from './context.ts'

/** The events of a stream. A protocol can send the frames of `stream` instead, which all streams share. */
export class LiveEvents extends AsyncIteratorClass<LiveUpdate, void, void> {
  readonly stream: LiveStream

  constructor(stream: LiveStream) {
    super(
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
    this.stream = stream
  }
}
