import { createContext, type ReactNode, useContext, useEffect, useState, useSyncExternalStore } from 'react'

import type { LiveStatus } from 'tallystick-contract/query'

import { codeOf, queryClient } from '../query-client.ts'
import { sessionQuery } from '../auth.ts'
import { useDefinition, type View } from '../definition.ts'
import { useLanguage } from '../language.tsx'

const LiveContext = createContext<LiveStatus>('connecting')

/** Keeps the queries of the views that the person can open current with one stream. `userId` is undefined without a session. */
export function Live({
  userId,
  views,
  children,
}: {
  userId: string | undefined
  views: readonly View[]
  children: ReactNode
}) {
  const { keepLive } = useDefinition()
  const [status, setStatus] = useState<LiveStatus>('connecting')
  // A text, because React compares the dependencies of an effect by identity.
  const watched = [...new Set(views.flatMap(({ topics = [] }) => topics))].join()

  useEffect(() => {
    if (!keepLive || !watched) {
      setStatus('connected')
      return undefined
    }
    return keepLive({
      topics: watched.split(','),
      onStatus: setStatus,
      onError: (error) => {
        if (codeOf(error) === 'UNAUTHORIZED') void queryClient.invalidateQueries(sessionQuery)
      },
    })
    // A stream belongs to one person: another person needs another stream.
  }, [keepLive, userId, watched])
  return <LiveContext value={status}>{children}</LiveContext>
}

const subscribeToOnline = (onChange: () => void) => {
  addEventListener('online', onChange)
  addEventListener('offline', onChange)
  return () => {
    removeEventListener('online', onChange)
    removeEventListener('offline', onChange)
  }
}

export const useOnline = () => useSyncExternalStore(subscribeToOnline, () => navigator.onLine)

/** Time after which the page announces a lost connection, in milliseconds. */
const LOST_DELAY = 2000
/** Time for which the page shows that it is connected again, in milliseconds. */
const CONNECTED_DURATION = 5000

/** Announces a lost connection, and the next connection. */
export function ConnectionStatus() {
  const { t } = useLanguage()
  const isOnline = useOnline()
  const status = useContext(LiveContext)
  const [message, setMessage] = useState<'offline' | 'connecting' | 'connected'>()

  useEffect(() => {
    if (!isOnline) {
      setMessage('offline')
      return undefined
    }
    // Only after a message about the lost connection.
    if (status === 'connected') setMessage((last) => last && 'connected')
    const timer = setTimeout(
      () => {
        setMessage(status === 'connected' ? undefined : 'connecting')
      },
      status === 'connected' ? CONNECTED_DURATION : LOST_DELAY,
    )
    return () => {
      clearTimeout(timer)
    }
  }, [isOnline, status])

  return (
    <p role="status" className={message === 'connected' ? 'connection' : 'connection lost'}>
      {message && t(message)}
    </p>
  )
}
