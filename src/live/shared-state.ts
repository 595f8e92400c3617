import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

import type { Topic } from '../../contract/base.ts'
import type { Format } from '../context.ts'
import { limitConcurrency } from '../procedures/concurrency.ts'
import type { Bus } from './bus.ts'

/**
 * Interval at which each state is read even without a change, in milliseconds: a process may have ended between a commit
 * and the notification.
 */
const COMPARE_INTERVAL = 30_000
/**
 * Limits of the time between the beginnings of two reads of one state, in milliseconds. Between these limits, the time is
 * READ_FACTOR times the duration of the last read. Limits the cost of a state that changes often. The first change after
 * this time is read immediately.
 */
const READ_INTERVAL = { min: 100, max: 200 }
const READ_FACTOR = 20
/** Time until a failed read is repeated, in milliseconds. */
const RETRY_DELAY = 1000

/** Limits concurrent reads, because after a reconnect all states are read. */
const limitReads = limitConcurrency(8)

/** Where a state comes from. */
export interface Source {
  topic: Topic
  /** Identifies the state. Streams with the same id share the state. */
  id: string
  /** The key of the changes that affect the state, or the result of `otherKeys`. */
  key: string
  /** Returns further keys of the changes that may affect the state, for example of other accounts. */
  otherKeys?: (() => Promise<readonly string[]>) | undefined
  read: () => Promise<unknown>
}

/** One state of a topic, as it was at one time. */
export class Snapshot {
  readonly topic
  readonly state
  /** Identifies the content of the state. */
  readonly tag: string
  /** When the change was noticed, in milliseconds since the start of the process. */
  readonly since
  readonly #frames = new Map<Format, Buffer>()

  constructor(topic: Topic, state: unknown, since: number) {
    this.topic = topic
    this.state = state
    this.since = since
    this.tag = createHash('sha256').update(JSON.stringify(state)).digest('base64url').slice(0, 12)
  }

  /** Returns the data of the event. All streams of one protocol share this buffer. */
  frame(format: Format) {
    const frame = this.#frames.get(format) ?? Buffer.from(format(this.topic, this.state))
    this.#frames.set(format, frame)
    return frame
  }
}

/**
 * The current state of one topic, for all streams of this process that need the same state. One read runs at a time. All
 * changes during a read share the next read.
 */
class SharedState {
  readonly id
  snapshot: Snapshot | undefined
  readonly streams = new Set<() => void>()
  readonly #source
  readonly #bus
  #subscriptions = new Map<string, () => void>()
  /** Number of changes with the key of the source. */
  #changes = 0
  /** Number of these changes at the beginning of the last successful read. */
  #readChanges = 0
  /** When the last read began. */
  #lastRead = -READ_INTERVAL.max
  /** Minimum time between the beginnings of the last read and the next read. */
  #interval = READ_INTERVAL.min
  /** The latest read that has begun. */
  #reading: Promise<void> | undefined
  /** The read that has not begun. */
  #nextRead: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(source: Source, bus: Bus) {
    this.id = source.id
    this.#source = source
    this.#bus = bus
    this.#subscribe([])
  }

  /**
   * Reads the state. The read begins after the call, or joins a read that has not begun yet. Does not wait for later
   * changes, because the state may change more often than one read takes.
   */
  refresh = () => (this.#nextRead ??= this.#readAfter(this.#reading, performance.now()))

  close() {
    for (const unsubscribe of this.#subscriptions.values()) unsubscribe()
    clearTimeout(this.#timer)
  }

  /** Changes with other keys are not counted: an event without a new state would show when other accounts write. */
  readonly #onChange = () => {
    this.#changes++
    this.#refreshLater()
  }

  readonly #refreshLater = () => {
    this.refresh().catch(() => {
      // The guard has logged the error.
      this.#schedule(RETRY_DELAY)
    })
  }

  #schedule(delay: number) {
    clearTimeout(this.#timer)
    if (this.streams.size > 0) this.#timer = setTimeout(this.#refreshLater, delay).unref()
  }

  async #readAfter(previous: Promise<void> | undefined, since: number) {
    await previous?.catch(() => undefined)
    const delay = this.#lastRead + this.#interval - performance.now()
    if (delay > 0) await sleep(delay, undefined, { ref: false })
    await limitReads('', async () => {
      this.#reading = this.#nextRead
      this.#nextRead = undefined
      this.#lastRead = performance.now()
      await this.#read(since)
      const interval = READ_FACTOR * (performance.now() - this.#lastRead)
      this.#interval = Math.min(Math.max(interval, READ_INTERVAL.min), READ_INTERVAL.max)
    })
    this.#schedule(COMPARE_INTERVAL)
  }

  async #read(since: number) {
    const { topic, otherKeys, read } = this.#source
    const others = await otherKeys?.()
    // All streams have left.
    if (this.streams.size === 0) return
    if (others) this.#subscribe(others)
    const changes = this.#changes
    this.#accept(new Snapshot(topic, await read(), since), changes)
  }

  /**
   * Skips an equal snapshot after one change, because the last read has seen that change. Does not skip an equal snapshot
   * after several changes: they may have cancelled each other out, and a client may have requested the state in between.
   */
  #accept(snapshot: Snapshot, changes: number) {
    const newChanges = changes - this.#readChanges
    this.#readChanges = changes
    if (snapshot.tag === this.snapshot?.tag && newChanges < 2) return
    this.snapshot = snapshot
    for (const wake of this.streams) wake()
  }

  /** Subscribes to the key of the source and to other keys. */
  #subscribe(others: readonly string[]) {
    const { key: ownKey } = this.#source
    const keys = [ownKey, ...others]
    for (const [key, unsubscribe] of this.#subscriptions)
      if (!keys.includes(key)) {
        unsubscribe()
        this.#subscriptions.delete(key)
      }
    for (const key of keys)
      if (!this.#subscriptions.has(key))
        this.#subscriptions.set(
          key,
          this.#bus.subscribe(key, key === ownKey ? this.#onChange : this.#refreshLater),
        )
  }
}

export type { SharedState }

/** The states that the streams of this process need. */
export function createSharedStates(bus: Bus) {
  const states = new Map<string, SharedState>()

  return {
    /** Adds a stream to a state. `wake` is called after each change. Returns the state, and the function that removes the stream. */
    join(source: Source, wake: () => void) {
      const state = states.get(source.id) ?? new SharedState(source, bus)
      states.set(source.id, state)
      state.streams.add(wake)
      const leave = () => {
        state.streams.delete(wake)
        if (state.streams.size > 0 || states.get(state.id) !== state) return
        states.delete(state.id)
        state.close()
      }
      return { state, leave }
    },
  }
}
