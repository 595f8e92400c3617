import type { Caller } from '../call/caller.ts'
import type { FindLiveObserver, ObservedStream } from '../call/live-observer.ts'
import type { ProcedureContract } from '../guard/procedure-contract.ts'
import type { Delivery, LiveStream } from '../call/live-stream.ts'
import type { SharedState } from './shared-state.ts'
import type { Snapshot } from './snapshot.ts'
import { principalOf } from './topics.ts'

/** A topic of one stream, or one parent of a topic. */
export interface Subscription {
  topic: string
  /** Names the state in event ids. */
  name: string
  state: SharedState
  leave: () => void
  /** Whether only a signed-in caller may receive the topic. */
  isPrivate: boolean
  /** The contract of the procedure that reads the topic. */
  contract: ProcedureContract
  /** The snapshot that the client has. */
  received?: Snapshot
}

/** A snapshot that the client has not received. */
interface Pending {
  subscription: Subscription
  snapshot: Snapshot
}

type Receive = Parameters<LiveStream['forEach']>[0]

interface Options {
  /** The caller of a stream with private topics. */
  caller: Caller | undefined
  /** Returns the caller with current data, or undefined if the session or the token is no longer valid. */
  verify: (caller: Caller) => Promise<Caller | undefined>
  /** Creates the error for a caller without a valid session or token. */
  refuse: () => Error
  /** Throws the error of the guard if the caller may not read a topic. */
  requireAccess: (contract: ProcedureContract, caller: Caller) => void
  findObserver: FindLiveObserver
  onClose: () => void
}

/**
 * The stream of one caller: a live query, not a log of events. The stream remembers only the last snapshot of each
 * topic. A slow reader therefore skips states, and receives the current state when it reads again.
 */
export class Stream implements LiveStream, ObservedStream {
  /** The topics of the stream. */
  readonly subscriptions: Subscription[] = []
  readonly #options
  #caller
  /** Whether the caller has been verified since the last change. */
  #isVerified = true
  /** Whether the caller must be verified, even if nothing is to be delivered. */
  #mustVerify = false
  #isClosed = false
  readonly openedAt = performance.now()
  #wake: () => void = () => undefined

  constructor(options: Options) {
    this.#options = options
    this.#caller = options.caller
  }

  get caller() {
    return this.#caller
  }

  get topics() {
    return this.subscriptions.map(({ topic }) => topic)
  }

  /** Called after a change of a topic. */
  wake = () => {
    this.#isVerified = false
    this.#wake()
  }

  /** Verifies the caller, and ends the stream if the caller is no longer valid. */
  recheck = () => {
    if (!this.#caller) return
    this.#mustVerify = true
    this.#wake()
  }

  /** Called every second. If `isConnected` is false, a revocation may have been lost. */
  check(isConnected: boolean, now: Date) {
    const caller = this.#caller
    if (caller && (!isConnected || this.#mustVerify || expiryOf(caller) <= now)) this.recheck()
  }

  async next(): Promise<Delivery | undefined> {
    while (!this.#isClosed) {
      // Created before the checks, so that a change during the checks is not lost.
      const woken = new Promise<void>((resolve) => (this.#wake = resolve))
      const pending = this.#findPending()
      const isPermitted = !this.#mustVerifyFor(pending) || (await this.verify())
      if (pending && isPermitted) return this.#deliver(pending)
      await woken
    }
    return undefined
  }

  async forEach(receive: Receive) {
    for (let delivery = await this.next(); delivery; delivery = await this.next()) {
      await receive(delivery)
      await this.#receiveChanges(receive)
    }
  }

  /**
   * Calls `receive` synchronously in each change, until something asynchronous is necessary. A stream that waits for a
   * change then has no promises, which garbage collections would have to copy.
   */
  #receiveChanges(receive: Receive) {
    return new Promise<void>((resolve, reject) => {
      this.#wake = () => {
        try {
          const step = this.#receivePending(receive)
          if (!step) return
          resolve(step)
        } catch (error) {
          reject(new Error('A state could not be sent', { cause: error }))
        }
        this.#wake = () => undefined
      }
      this.#wake()
    })
  }

  /** Returns a promise if the next state needs something asynchronous, and undefined if the client has all states. */
  #receivePending(receive: Receive): Promise<void> | undefined {
    for (;;) {
      const pending = this.#findPending()
      if (this.#isClosed || this.#mustVerifyFor(pending)) return Promise.resolve()
      if (!pending) return undefined
      const waiting = receive(this.#deliver(pending))
      if (waiting) return waiting
    }
  }

  #mustVerifyFor(pending: Pending | undefined) {
    return this.#mustVerify || (pending?.subscription.isPrivate && !this.#isVerified)
  }

  close = () => {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const { leave } of this.subscriptions) leave()
    this.#options.onClose()
    this.#wake()
  }

  /** Returns the first topic with a snapshot that the client has not received. */
  #findPending(): Pending | undefined {
    for (const subscription of this.subscriptions) {
      const { snapshot } = subscription.state
      if (snapshot && snapshot !== subscription.received) return { subscription, snapshot }
    }
    return undefined
  }

  #deliver({ subscription, snapshot }: Pending): Delivery {
    subscription.received = snapshot
    const since = Math.max(snapshot.since, this.openedAt)
    this.#options.findObserver()?.sent(this, subscription.state, snapshot.update, since)
    return { snapshot, id: encodeTags(this.subscriptions), since }
  }

  /**
   * Returns whether the caller may receive the topics. Throws if the session or the token has ended, or if the caller may
   * no longer read a topic. Returns false if the database does not answer: the next check verifies again. Also returns false
   * if the principal has changed, for example the role. The stream then ends, because its states belong to the previous
   * principal, and the client connects again.
   */
  async verify() {
    const { verify, refuse, requireAccess } = this.#options
    const previous = this.#caller
    if (!previous) return true
    // Before the query, so that a change during the query is verified again.
    this.#mustVerify = false
    this.#isVerified = true
    const caller = await verify(previous).catch(() => null)
    if (caller === null) {
      this.#mustVerify = true
      return false
    }
    try {
      if (!caller) throw refuse()
      for (const { contract, isPrivate } of this.subscriptions) if (isPrivate) requireAccess(contract, caller)
    } catch (error) {
      // After this error, `next` returns no state.
      this.close()
      throw error
    }
    this.#caller = caller
    const isSame = principalOf(caller) === principalOf(previous)
    if (!isSame) this.close()
    return isSame
  }
}

const expiryOf = ({ session, tokenExpiresAt }: Caller) => tokenExpiresAt ?? session.expiresAt

/**
 * The event id: the tags of all states that the client has, for example `books=c2zL8kJb0xQe,tickets/7=…` with the books and
 * the tickets of project 7.
 */
function encodeTags(subscriptions: readonly Subscription[]) {
  let id = ''
  for (const { name, received } of subscriptions)
    if (received) id += `${id === '' ? '' : ','}${name}=${received.tag}`
  return id
}

/** Maximum number of states in an event id. */
const MAX_TAGS = 1000

/** Returns the tags of an event id by the name of the state. */
export const readTags = (lastEventId = '') =>
  new Map(
    lastEventId.split(',', MAX_TAGS).map((part) => {
      const [name = '', tag = ''] = part.split('=', 2)
      return [name, tag] as const
    }),
  )
