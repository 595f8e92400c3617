import { ORPCError } from '@orpc/client'

import type { FindLiveObserver, ObservedState } from '../call/live-observer.ts'
import type { Bus } from './bus.ts'
import { createReadQueue, KEY_SIZE, type ReadQueue, sleepUntil } from './read-queue.ts'
import { Snapshot } from './snapshot.ts'
import type { Source } from './source.ts'

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

/** What all states of a process share. */
interface Shared {
  bus: Bus
  queue: ReadQueue
  findObserver: FindLiveObserver
  /** Whether each state is read every COMPARE_INTERVAL, even without a change. */
  compareStates: boolean
}

/**
 * The current state of one topic, for all streams of this process that need the same state. One read runs at a time. All
 * changes during a read share the next read.
 */
class SharedState implements ObservedState {
  snapshot: Snapshot | undefined
  /** The error of the last read, if the caller may not read the state of the parent. The snapshot then has the state null. */
  refusal: Error | undefined
  readonly streams = new Set<() => void>()
  readonly #source
  readonly #bus
  readonly #queue
  readonly #findObserver
  readonly #compareStates
  #subscriptions = new Map<string, () => void>()
  /** Number of changes with the keys of the source and of the parent. */
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

  constructor(source: Source, { bus, queue, findObserver, compareStates }: Shared) {
    this.#source = source
    this.#queue = queue
    this.#findObserver = findObserver
    this.#bus = bus
    this.#compareStates = compareStates
    this.#subscribe([])
  }

  get topic() {
    return this.#source.topic
  }

  get of() {
    return this.#source.of
  }

  get hasSecrets() {
    return this.#source.contract.meta.secrets === true
  }

  isAffectedBy = (key: string) => this.#subscriptions.has(key)

  /**
   * Reads the state. The read begins after the call, or joins a read that has not begun yet. Does not wait for later
   * changes, because the state may change more often than one read takes.
   */
  refresh = () => (this.#nextRead ??= this.#readAfter(this.#reading, performance.now()))

  close() {
    for (const unsubscribe of this.#subscriptions.values()) unsubscribe()
    clearTimeout(this.#timer)
  }

  /**
   * Changes with other keys are not counted: after two counted changes, the streams receive even an equal state (`#accept`), which
   * would show when other accounts write. The members of a parent see each other's changes.
   */
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
    await sleepUntil(this.#lastRead + this.#interval)
    await this.#queue(this.#source.account, async () => {
      await this.#readNow(since)
      return (this.snapshot?.size ?? 0) + KEY_SIZE * this.#subscriptions.size
    })
    if (this.#compareStates) this.#schedule(COMPARE_INTERVAL)
  }

  async #readNow(since: number) {
    this.#reading = this.#nextRead
    this.#nextRead = undefined
    this.#lastRead = performance.now()
    await this.#read(since)
    const interval = READ_FACTOR * (performance.now() - this.#lastRead)
    this.#interval = Math.min(Math.max(interval, READ_INTERVAL.min), READ_INTERVAL.max)
  }

  async #read(since: number) {
    const { topic, of, otherKeys } = this.#source
    const observed = this.#findObserver()?.reading(this)
    try {
      const others = await otherKeys?.()
      // All streams have left.
      if (this.streams.size === 0) return
      // After a refusal, the state has no subscription to the parent, and access may have returned.
      if (others ?? this.refusal) this.#subscribe(others ?? [])
      const changes = this.#changes
      const state = await (observed ? observed.run(() => this.#readState()) : this.#readState())
      const isNew = this.#accept(new Snapshot({ topic, ...(of && { of }), state }, since), changes)
      observed?.end(this.refusal ? 'refused' : isNew ? 'changed' : 'equal')
      // A stream may send the snapshot immediately, so the read ends before.
      if (isNew) for (const wake of this.streams) wake()
    } catch (error) {
      observed?.end('failed')
      throw error
    }
  }

  /**
   * Reads the state. If the guard or the procedure refuses the parent (403, 404), the state is null, and later changes of the
   * parent do not read it again: only a change of the caller's memberships does.
   */
  async #readState() {
    const { of, parentKey = '', read } = this.#source
    try {
      const state = await read()
      this.refusal = undefined
      return state
    } catch (error) {
      if (!of || !isRefusal(error)) throw error
      this.refusal = error
      this.#subscriptions.get(parentKey)?.()
      this.#subscriptions.delete(parentKey)
      return null
    }
  }

  /**
   * Skips an equal snapshot after one change, because the last read has seen that change. Does not skip an equal snapshot
   * after several changes: they may have cancelled each other out, and a client may have requested the state in between.
   * Returns whether the streams must receive the snapshot.
   */
  #accept(snapshot: Snapshot, changes: number) {
    const newChanges = changes - this.#readChanges
    this.#readChanges = changes
    if (snapshot.tag === this.snapshot?.tag && (newChanges < 2 || this.refusal)) return false
    this.snapshot = snapshot
    return true
  }

  /** Subscribes to the keys of the source and to other keys. */
  #subscribe(others: readonly string[]) {
    const { key: ownKey, parentKey = ownKey, addressKey = ownKey } = this.#source
    const keys = new Set([ownKey, parentKey, addressKey, ...others])
    for (const [key, unsubscribe] of this.#subscriptions)
      if (!keys.has(key)) {
        unsubscribe()
        this.#subscriptions.delete(key)
      }
    for (const key of keys)
      if (!this.#subscriptions.has(key))
        this.#subscriptions.set(
          key,
          this.#bus.subscribe(key, key === ownKey || key === parentKey ? this.#onChange : this.#refreshLater),
        )
  }
}

/** Returns whether the caller may not read a state, or the parent does not exist. */
const isRefusal = (error: unknown): error is Error =>
  error instanceof ORPCError && (error.status === 403 || error.status === 404)

export type { SharedState }

/** The states that the streams of this process need. */
export function createSharedStates(
  bus: Bus,
  { compareStates = true, findObserver = () => undefined }: Partial<Omit<Shared, 'bus' | 'queue'>> = {},
) {
  const shared: Shared = { bus, queue: createReadQueue(), findObserver, compareStates }
  /** For each key of changes, the states by id. */
  const byKey = new Map<string, Map<string, SharedState>>()

  return {
    /**
     * Adds a stream to a state. `wake` is called after each change. Returns the state, and the function that removes the
     * stream. Undefined if the streams would have more than `maxStates` states.
     */
    join(source: Source, wake: () => void) {
      const { key, id, maxStates = Infinity } = source
      const states = byKey.get(key) ?? new Map<string, SharedState>()
      if (!states.has(id) && states.size >= maxStates) return undefined
      const state = states.get(id) ?? new SharedState(source, shared)
      byKey.set(key, states.set(id, state))
      state.streams.add(wake)
      const leave = () => {
        state.streams.delete(wake)
        // The second condition is for a repeated call: a new state may have the id.
        if (state.streams.size > 0 || states.get(id) !== state) return
        states.delete(id)
        if (states.size === 0 && byKey.get(key) === states) byKey.delete(key)
        state.close()
      }
      return { state, leave }
    },
  }
}
