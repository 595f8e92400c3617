import { ORPCError } from '@orpc/client'
import { sessionsTopic, signedInErrors } from 'tallystick-contract/internal'
import type { Logger } from 'pino'

import type { App } from '../app/resource.ts'
import type { Notifications } from '../db/connection/notifications.ts'
import type { Caller, Reply } from '../call/caller.ts'
import type { Context } from '../call/context.ts'
import type { FindLiveObserver, LiveRecorder } from '../call/live-observer.ts'
import type { Live, WatchCall } from '../call/live-stream.ts'
import { requireAccess } from '../guard/access.ts'
import { type ContextParts, createContext, findCurrentCaller } from '../guard/authentication.ts'
import { networkOf } from '../guard/networks.ts'
import { withRetryAfter } from '../guard/open-counts.ts'
import type { ProcedureContract } from '../guard/procedure-contract.ts'
import { createBus } from './bus.ts'
import { keyOf, keysOf } from './keys.ts'
import { createSharedStates } from './shared-state.ts'
import type { Source } from './source.ts'
import { readTags, Stream, type Subscription } from './stream.ts'
import { createStreamLimits, type Limits } from './stream-limits.ts'
import { createSources } from './topics.ts'

/** Interval of the checks for ended sessions and tokens, in milliseconds. */
const CHECK_INTERVAL = 1000

interface LiveParts extends Omit<ContextParts, 'live'> {
  app: Pick<App, 'resources' | 'personalData'>
  settings: ContextParts['settings'] & Limits
  log: Logger
  metrics?: { observeStreams: (count: () => number, isConnected: () => boolean) => void } | undefined
  /** The recorder of the console for developers. Only in development. */
  recorder?: LiveRecorder | undefined
  /** Aborted when the service stops. */
  closing: AbortController
}

/** Creates the live updates of this process. */
export function createLive(
  parts: LiveParts,
  notifications: Notifications,
  options: { compareStates?: boolean } = {},
): Live {
  const { app, db, settings, log, metrics, recorder, closing } = parts
  const findObserver: FindLiveObserver = () => recorder?.findLiveObserver()
  const bus = createBus(notifications, log, findObserver)
  const states = createSharedStates(bus, { ...options, findObserver })
  const streamLimits = createStreamLimits(settings)
  const streams = new Set<Stream>()

  const timer = setInterval(() => {
    const now = new Date()
    const isConnected = bus.isConnected()
    for (const stream of streams) stream.check(isConnected, now)
  }, CHECK_INTERVAL).unref()
  const verify = (current: Caller) => findCurrentCaller(db, current)
  const refuse = () => new ORPCError('UNAUTHORIZED', { ...signedInErrors.UNAUTHORIZED, defined: true })
  /** Without headers, because the origin of the page does not change, and with an unused reply, because the answer has begun. */
  const requireAccessLater = (contract: ProcedureContract, caller: Caller) => {
    requireAccess({ settings, headers: {}, reply: new Map() }, contract, caller)
  }
  const closeAll = () => {
    for (const stream of streams) stream.close()
  }
  closing.signal.addEventListener('abort', closeAll)
  metrics?.observeStreams(streamLimits.count, bus.isConnected)
  recorder?.observeStreams(streams)

  const subscribe = (source: Source, wake: () => void, reply: Reply): Subscription => {
    const { topic, name, isPrivate, contract } = source
    const joined = states.join(source, wake)
    if (joined) return { ...joined, topic, name, isPrivate, contract }
    throw withRetryAfter(
      reply,
      new ORPCError('TOO_MANY_REQUESTS', {
        message: 'Too many different lists in open streams; close one first',
      }),
    )
  }

  const live: Live = {
    announce: (topic, ...recipients) => {
      const keys = keysOf(topic, recipients)
      findObserver()?.announced(topic.name, recipients, keys)
      for (const key of keys) bus.publish(key)
    },

    async open(call) {
      const { caller, headers, reply, lastEventId, signal } = call
      if (closing.signal.aborted)
        throw new ORPCError('SERVICE_UNAVAILABLE', { message: 'The service is stopping' })
      const sources = sourcesOf(call)
      for (const { contract, isPrivate } of sources)
        if (isPrivate) requireAccess({ settings, headers, reply }, contract, caller)
      const endCount = streamLimits.occupy({ caller, network: networkOf(call.ipAddress) }, reply)
      // An open stream keeps the variables that closures use. So no closure uses `call`, which contains the request.
      const unsubscribes = [endCount]
      const stream: Stream = new Stream({
        caller,
        verify,
        refuse,
        requireAccess: requireAccessLater,
        findObserver,
        onClose: () => {
          if (streams.delete(stream)) findObserver()?.closed(stream)
          for (const unsubscribe of unsubscribes) unsubscribe()
        },
      })
      streams.add(stream)
      if (signal) {
        signal.addEventListener('abort', stream.close)
        unsubscribes.push(() => {
          signal.removeEventListener('abort', stream.close)
        })
      }
      for (const person of accountsOf(call))
        unsubscribes.push(bus.subscribe(keyOf(sessionsTopic, { person }), stream.recheck))
      const { subscriptions } = stream
      const tags = readTags(lastEventId)
      try {
        for (const source of sources) subscriptions.push(subscribe(source, stream.wake, reply))
        // The session may have ended after its authentication, and before the subscription above.
        await Promise.all([stream.verify(), ...subscriptions.map(({ state }) => state.refresh())])
        for (const subscription of subscriptions) {
          const { snapshot, refusal } = subscription.state
          const tag = tags.get(subscription.name)
          // A client that has had the state of the parent receives null, and keeps its other states.
          if (refusal && tag === undefined) throw refusal
          if (snapshot && snapshot.tag === tag) subscription.received = snapshot
        }
      } catch (error) {
        stream.close()
        throw error
      }
      findObserver()?.opened(stream)
      // A signal that was aborted before the call emits no event.
      if (signal?.aborted) stream.close()
      return stream
    },

    async stop() {
      clearInterval(timer)
      closeAll()
      await bus.stop()
    },
  }

  const readContext = (caller: WatchCall['caller']): Context => ({
    ...createContext({ ...parts, live }, {}),
    caller: () => Promise.resolve(caller),
  })
  const sourcesOf = createSources(app.resources, readContext)
  return live
}

/** The stream depends on the sessions, the roles and the bans of these accounts: the caller, and an impersonating administrator. */
const accountsOf = ({ caller }: WatchCall) =>
  caller
    ? [caller.user.id, ...(caller.session.impersonatedBy === null ? [] : [caller.session.impersonatedBy])]
    : []
