import type { Caller } from './caller.ts'
import type { LiveUpdate, Recipient } from './live-stream.ts'

/** A state of a topic. Streams whose callers have the same access share the state. */
export interface ObservedState {
  readonly topic: string
  readonly of?: LiveUpdate['of'] | undefined
  /** Whether the procedure that reads the state declares secrets in its output. */
  readonly hasSecrets: boolean
  /** Whether the state is read again after an announcement with this key. */
  isAffectedBy: (key: string) => boolean
}

/** An open stream. */
export interface ObservedStream {
  readonly caller: Caller | undefined
  /** In milliseconds since the start of the process. */
  readonly openedAt: number
  readonly subscriptions: readonly { readonly state: ObservedState }[]
}

/** `equal`: the state is the same as before, so that nothing is sent. `refused`: the caller may not read the parent. */
export type ReadOutcome = 'changed' | 'equal' | 'refused' | 'failed'

/** A read of a state. `run` observes the statements of the read, and `end` is called when the read has ended. */
interface ObservedRead {
  run: (read: () => Promise<unknown>) => Promise<unknown>
  end: (outcome: ReadOutcome) => void
}

/** Observes the live updates of a process while a developer looks (engine/console/). */
export interface LiveObserver {
  /** Called before the streams learn of the change. `keys`: of the states that can show the change (engine/live/keys.ts). */
  announced: (topic: string, recipients: readonly Recipient[], keys: readonly string[]) => void
  /** As `announced`, for a change that `sender` announced: another process, a command for operators, or the database. */
  received: (sender: string, keys: readonly string[]) => void
  opened: (stream: ObservedStream) => void
  closed: (stream: ObservedStream) => void
  /** Called when a read of a state begins. */
  reading: (state: ObservedState) => ObservedRead
  /** `since`: when the change was noticed, or the stream was opened, in milliseconds since the start of the process. */
  sent: (stream: ObservedStream, state: ObservedState, update: LiveUpdate, since: number) => void
}

/** Returns the observer, or undefined while no developer looks. */
export type FindLiveObserver = () => LiveObserver | undefined

/** Records the live updates of a process. */
export interface LiveRecorder {
  findLiveObserver: FindLiveObserver
  /** Passes the open streams of the process, a set that changes. */
  observeStreams: (streams: ReadonlySet<ObservedStream>) => void
}
