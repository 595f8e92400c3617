import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { type Session, sessionQuery } from '../../auth.ts'
import type { View } from '../../definition.ts'

/** Returns the session of the browser. Null without a session. */
export const useSession = () => useQuery(sessionQuery).data ?? null

/** Returns the signed-in person, in views that only signed-in people can open. */
export function usePerson() {
  const session = useSession()
  if (!session) throw new Error('This view requires a session')
  return session.user
}

/** Returns whether a person can open a view. */
export const isOpen = ({ access }: View, session: Session | null) =>
  access === 'public' || (session !== null && (access === 'signedIn' || session.user.role === 'admin'))

/** Returns whether a session ended that the person did not end on this page. */
export function useHasEnded(session: Session | null) {
  const [last, setLast] = useState(session)
  const [hasEnded, setHasEnded] = useState(false)
  if (last !== session) {
    setLast(session)
    setHasEnded(last !== null && session === null)
  }
  return hasEnded
}
