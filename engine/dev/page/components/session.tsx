import { useQuery } from '@tanstack/react-query'

import { sessionQuery } from '../auth.ts'

/** Returns the session of the browser. Null without a session. */
export const useSession = () => useQuery(sessionQuery).data ?? null

/** Returns the signed-in person, in views that only signed-in people can open. */
export function usePerson() {
  const session = useSession()
  if (!session) throw new Error('This view requires a session')
  return session.user
}
