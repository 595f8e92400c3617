import { createHash } from 'node:crypto'

import type { Format, LiveUpdate } from '../call/live-stream.ts'
import { toJson } from '../values/output.ts'

/** One state of a topic, as it was at one time. */
export class Snapshot {
  readonly update
  /** Identifies the content of the state. */
  readonly tag: string
  /** Size of the state, in characters of JSON. */
  readonly size: number
  /** When the change was noticed, in milliseconds since the start of the process. */
  readonly since
  readonly #frames = new Map<Format, Buffer>()

  constructor(update: LiveUpdate, since: number) {
    this.update = update
    this.since = since
    const json = toJson(update.state)
    this.size = json.length
    this.tag = createHash('sha256').update(json).digest('base64url').slice(0, 12)
  }

  /** Returns the data of the event. All streams of one protocol share this buffer. */
  frame(format: Format) {
    const frame = this.#frames.get(format) ?? Buffer.from(format(this.update))
    this.#frames.set(format, frame)
    return frame
  }
}
