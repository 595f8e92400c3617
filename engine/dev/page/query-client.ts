import { MutationCache, notifyManager, QueryClient } from '@tanstack/react-query'
import { ORPCError } from 'tallystick-contract/internal'

import { sessionQuery } from './auth.ts'

/** Requests the session again if the service no longer accepts it. Without a session, the page shows the sign-in. */
const checkSession = (error: unknown) => {
  if (codeOf(error) === 'UNAUTHORIZED') void queryClient.invalidateQueries(sessionQuery)
}

// Components show a mutation before the browser paints again. With the default, a checkbox would change back for a moment.
notifyManager.setScheduler(queueMicrotask)

/** The cache of the page, for all clients. */
export const queryClient: QueryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // The live updates keep the queries current.
      staleTime: Infinity,
      retry: (count, error) => count < 3 && !isRefusal(error),
    },
  },
  mutationCache: new MutationCache({ onError: checkSession }),
})

/** Returns the code of an error of the service. Undefined if the service did not answer. */
export const codeOf = (error: unknown) => (error instanceof ORPCError ? String(error.code) : undefined)

/** Returns whether the service refused a request, so that a repeated request would be refused also. */
const isRefusal = (error: unknown) => error instanceof ORPCError && error.status < 500
