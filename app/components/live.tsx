import { useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect, useState, useSyncExternalStore } from 'react'

import { keepLive, type LiveStatus } from '../../contract/query/index.ts'
import { codeOf, orpc } from '../api.ts'
import { sessionQuery } from '../auth.ts'
import { useLanguage } from '../language.tsx'

const LiveContext = createContext<LiveStatus>('connecting')

/** Keeps the queries of the page current with one stream. `userId` is undefined if nobody is signed in. */
export function Live({ userId, children }: { userId: string | undefined; children: ReactNode }) {
  const queryClient = useQueryClient()
  const [status, setStatus] = useState<LiveStatus>('connecting')

  useEffect(
    () =>
      keepLive(queryClient, orpc, {
        topics: userId === undefined ? ['counter'] : ['counter', 'tasks', 'notes', 'sessions'],
        onStatus: setStatus,
        onError: (error) => {
          if (codeOf(error) === 'UNAUTHORIZED') void queryClient.invalidateQueries(sessionQuery)
        },
      }),
    [queryClient, userId],
  )
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
const ANNOUNCE_DELAY = 2000

/** Announces a lost connection, and the next connection. */
export function ConnectionStatus() {
  const { t } = useLanguage()
  const isOnline = useOnline()
  const status = useContext(LiveContext)
  const isConnected = isOnline && status === 'connected'
  const [isLost, setLost] = useState(false)
  const [wasLost, setWasLost] = useState(false)

  useEffect(() => {
    if (isConnected) {
      setLost(false)
      return undefined
    }
    const timer = setTimeout(() => {
      setLost(true)
      setWasLost(true)
    }, ANNOUNCE_DELAY)
    return () => {
      clearTimeout(timer)
    }
  }, [isConnected])

  const message = !isOnline ? 'offline' : isLost ? 'connecting' : wasLost ? 'connected' : undefined
  return (
    <p role="status" className={isLost || !isOnline ? 'connection lost' : 'connection'}>
      {message && t(message)}
    </p>
  )
}
