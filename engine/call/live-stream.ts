import { withEventMeta } from '@orpc/server'
import { AsyncIteratorClass } from '@orpc/shared'
import type { IncomingHttpHeaders } from 'node:http'
import type { Topic } from 'tallystick-contract'

import type { Caller, Reply } from './caller.ts'

/**
 * A recipient of an announcement: the states of a topic that a change may affect. A state is what one caller may read of the topic. If
 * the topic has `of`, a state is what one caller may read within one parent.
 */
export type Recipient =
  /** The id of an account: its own states, and states of others that show its data (`listOtherOwners` of a resource). */
  | { person: string }
  /** An e-mail address: the states of the person with this address. The address may have no account yet. */
  | { address: string }
  /** The id of a parent, for example of a project: the states of this parent, and lists that contain its rows (`listParents` of a resource). */
  | { parent: string | number | bigint }

/**
 * Announces a change of a topic to the streams of all processes. A public topic has no recipients.
 *
 * @example
 * context.announce(shelvesTopic, { address: share.email })
 */
export type Announce = (topic: Topic, ...recipients: readonly Recipient[]) => void

/** Without a recipient, a change of a private topic would reach nobody. */
export function requireRecipient({ access, name }: Topic, recipients: readonly Recipient[]) {
  if (access !== 'public' && recipients.length === 0)
    throw new Error(`An announcement of the topic ${name} needs a person, an address or a parent`)
}

/** Live updates (engine/live/). */
export interface Live {
  /** Announces a change that is committed. Procedures call `context.announce` instead, which waits for the commit. */
  announce: Announce
  /** Opens a stream. The first states are read before the promise resolves. Throws the errors of the read operations. */
  open: (call: WatchCall) => Promise<LiveStream>
  /** Ends all streams, sends the collected changes, and closes the connection to other processes. */
  stop: () => Promise<void>
}

export interface WatchCall {
  /** The names of the topics. */
  topics: readonly string[]
  /** The inputs of the topics that have an input, by the name of the topic. A list if the stream watches several parents. */
  input: Readonly<Record<string, unknown>>
  /** The same inputs before their validation. The procedures that read the topics validate their inputs themselves. */
  given: Readonly<Record<string, unknown>>
  /** Set if one of the topics needs a caller. */
  caller?: Caller | undefined
  /** The IP address of the caller. */
  ipAddress?: string | undefined
  headers: IncomingHttpHeaders
  reply: Reply
  lastEventId?: string | undefined
  /** Whether a Datastar page reads the stream. */
  isDatastar: boolean
  /** Closes the stream. */
  signal?: AbortSignal | undefined
}

/** An open stream of one caller. */
export interface LiveStream {
  /** The names of the topics. */
  readonly topics: readonly string[]
  /**
   * Returns the next state that the client does not have, or undefined after the end of the stream. Throws the error of the
   * guard if the session or the token of the caller ends (401), or if the caller may no longer read a topic (403).
   */
  next: () => Promise<Delivery | undefined>
  /**
   * Calls `receive` with each result of `next`, until the end of the stream. If `receive` returns a promise, waits for it
   * before the next call.
   */
  forEach: (receive: (delivery: Delivery) => Promise<void> | undefined) => Promise<void>
  close: () => void
}

export interface Delivery {
  /** The event id: identifies the states of all topics that the client has, including this state. */
  id: string
  snapshot: {
    update: LiveUpdate
    /** Returns the data of the event in one protocol. All streams share the result. */
    frame: (format: Format) => Buffer
  }
  /** When the change was noticed, or the stream was opened, in milliseconds since the start of the process. */
  since: number
}

/** Converts a state to the data of an event in one protocol. */
export type Format = (update: LiveUpdate) => string

/** A topic with its current state. */
export interface LiveUpdate {
  topic: string
  /** The parent whose rows the state shows, by the name of the field in the input: only if the topic has `of`. */
  of?: Readonly<Record<string, unknown>>
  /** Null if the caller may no longer read the state of the parent. */
  state: unknown
}

/** The events of a stream. A protocol can send the frames of `stream` instead, which all streams share. */
export class LiveEvents extends AsyncIteratorClass<LiveUpdate, void, void> {
  readonly stream: LiveStream

  constructor(stream: LiveStream) {
    super(
      async () => {
        const delivery = await stream.next()
        if (!delivery) return { done: true, value: undefined }
        const { id, snapshot } = delivery
        return { done: false, value: withEventMeta({ ...snapshot.update }, { id }) }
      },
      () => {
        stream.close()
        return Promise.resolve()
      },
    )
    this.stream = stream
  }
}
