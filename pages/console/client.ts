import { createORPCClient, ORPCError } from '@orpc/client'
import { RPCLink } from '@orpc/client/fetch'
import type { ContractRouterClient } from '@orpc/contract'
import { QueryClient, queryOptions } from '@tanstack/react-query'

import type { consoleContract } from '../../engine/console/contract.ts'

/** Time between two attempts to reach the service, in milliseconds. */
export const RETRY_DELAY = 1000

/** Time between two checks that the service answers, in milliseconds. */
const CHECK_INTERVAL = 5000

/** Calls the procedures of the console, in the folder of this page. */
export const client: ContractRouterClient<typeof consoleContract> = createORPCClient(
  new RPCLink({ url: new URL('rpc', location.href) }),
)

/** Whether no answer arrived: `fetch` failed, or a proxy has no service behind it. */
export const isUnreachable = (error: unknown) =>
  error instanceof ORPCError ? [502, 503, 504].includes(error.status) : error instanceof TypeError

/** Whether the browser has no session of the console. */
export const isSignedOut = (error: unknown) => error instanceof ORPCError && error.status === 401

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // The service is on the same machine, so its answers need no connection to the internet.
      networkMode: 'always',
      retry: (_count, error) => isUnreachable(error),
      retryDelay: RETRY_DELAY,
    },
    mutations: { networkMode: 'always' },
  },
})

export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  queryFn: ({ signal }) => client.overview(undefined, { signal }),
  refetchInterval: CHECK_INTERVAL,
})

export const proceduresQuery = queryOptions({
  queryKey: ['procedures'],
  queryFn: ({ signal }) => client.procedures.list(undefined, { signal }),
})
