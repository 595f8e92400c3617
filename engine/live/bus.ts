import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'

import type { FindLiveObserver } from '../call/live-observer.ts'
import type { Notifications } from '../db/connection/notifications.ts'

/**
 * Time for which changes are collected for other processes, in milliseconds. One notification for all of these changes
 * costs almost nothing. A notification for each change would reduce the throughput of writes to one fifth.
 */
const FLUSH_DELAY = 15
/** Time until a failed notification is sent again, in milliseconds. */
const RETRY_DELAY = 500

/** Maximum number of keys in one payload. PostgreSQL accepts payloads of 7,999 bytes. A key has at most 64 bytes. */
const MAX_KEYS = 100

/**
 * Publish and subscribe between the processes that share a database. A message is only a key, for example
 * `loans:<account id>`, which means: the state with this key may have changed. Another transport, for example NATS or
 * Redis, can replace PostgreSQL by implementing this interface.
 */
export interface Bus {
  /** Announces a change that is committed. */
  publish: (key: string) => void
  /**
   * Calls `onChange` after changes of a key: once after one change, at least twice after several changes, because after several
   * changes a state is sent even if it is equal: a client may have read a state between them. Returns the function that ends the
   * subscription.
   */
  subscribe: (key: string, onChange: () => void) => () => void
  /** Whether changes of other processes arrive. If false, changes may be lost. */
  isConnected: () => boolean
  /** Sends the collected changes, and closes the connection. */
  stop: () => Promise<void>
}

/** Announces committed changes of a process without a bus, for example of an operator command. */
export const announce = ({ notify }: Pick<Notifications, 'notify'>, keys: readonly string[]) =>
  notify(['operator', ...keys].join(' '))

export function createBus(
  { notify, listen }: Notifications,
  log: Logger,
  findObserver: FindLiveObserver = () => undefined,
): Bus {
  const sender = randomUUID()
  const subscriptions = new Map<string, Set<() => void>>()
  /** The changes to announce. The value tells whether the key has changed more than once. */
  const changed = new Map<string, boolean>()
  let timer: NodeJS.Timeout | undefined
  /** Undefined until the first attempt to connect has ended. */
  let isConnected: boolean | undefined

  const collect = (key: string) => {
    changed.set(key, changed.has(key))
  }
  const callAll = (callbacks: Iterable<() => void>) => {
    for (const callback of [...callbacks]) callback()
  }
  const dispatch = (keys: readonly string[]) => {
    for (const key of keys) callAll(subscriptions.get(key) ?? [])
  }
  const dispatchAll = () => {
    const callbacks = [...subscriptions.values()].flatMap((ofKey) => [...ofKey])
    // Twice, as after several changes, because the number of lost notifications is unknown.
    callAll(callbacks)
    callAll(callbacks)
  }

  const flush = async () => {
    timer = undefined
    const keys = [...changed].flatMap(([key, isRepeated]) => (isRepeated ? [key, key] : [key]))
    changed.clear()
    while (keys.length > 0)
      try {
        await notify([sender, ...keys.slice(0, MAX_KEYS)].join(' '))
        keys.splice(0, MAX_KEYS)
      } catch (error) {
        log.warn({ err: error }, 'a change could not be announced to other processes; trying again')
        for (const key of keys.splice(0)) collect(key)
        timer ??= setTimeout(() => void flush(), RETRY_DELAY).unref()
      }
  }

  const stopListening = listen({
    receive(payload) {
      const [from = '', ...keys] = payload.split(' ')
      if (from === sender) return
      findObserver()?.received(from, keys)
      dispatch(keys)
    },
    connected() {
      if (!isConnected) log.debug('receiving changes of other processes')
      isConnected = true
      dispatchAll()
    },
    disconnected(error) {
      if (isConnected !== false)
        log.warn({ err: error }, 'changes of other processes do not arrive; connecting again')
      isConnected = false
    },
  })

  return {
    publish(key) {
      dispatch([key])
      collect(key)
      timer ??= setTimeout(() => void flush(), FLUSH_DELAY)
    },
    subscribe(key, onChange) {
      const callbacks = subscriptions.get(key) ?? new Set()
      subscriptions.set(key, callbacks.add(onChange))
      return () => {
        if (callbacks.delete(onChange) && callbacks.size === 0) subscriptions.delete(key)
      }
    },
    isConnected: () => isConnected === true,
    async stop() {
      clearTimeout(timer)
      if (changed.size > 0) await flush()
      // After a failure, `flush` has set the timer again.
      clearTimeout(timer)
      await stopListening()
    },
  }
}
