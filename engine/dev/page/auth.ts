import { queryOptions } from '@tanstack/react-query'

import { keepRetryTime, ORPCError } from 'tallystick-contract/internal'
import { keepDraftsOf } from './drafts.ts'

export interface User {
  id: string
  name: string
  email: string
  role: 'user' | 'admin'
  banned: boolean | null
  banReason: string | null
  /** ISO 8601 */
  banExpires: string | null
  /** ISO 8601 */
  createdAt: string
}

export interface Session {
  user: User
  session: {
    id: string
    /** The id of the administrator who acts as this person. */
    impersonatedBy: string | null
  }
}

/** Calls an endpoint of the sign-in, which is no procedure of the contract. */
const call = async <Answer>(path: string, body?: object) =>
  (await send(`auth/${path}`, body)).answer as Answer

/** Returns the answer of an endpoint, and its headers. Errors have the body of all other errors. */
async function send(path: string, body?: object, headers?: Record<string, string>) {
  const response = await fetch(`/api/${path}`, {
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
  })
  const answer: unknown = await response.json()
  if (response.ok) return { answer, headers: response.headers }
  const { code, message, data } = answer as { code: string; message: string; data?: unknown }
  const error = new ORPCError(code, { status: response.status, message, data })
  keepRetryTime(error, response.headers.get('retry-after'))
  throw error
}

/** Adds the sample data for the signed-in person. Only in development: engine/console/page-endpoints.ts. */
export const addSamples = () => send('development/samples', {})

/** A provider by which people can sign in. */
export interface Provider {
  id: string
  name: string
}

/** Returns the session, and the providers that the application declares. */
export async function fetchSession() {
  const { answer, headers } = await send('auth/get-session')
  const header = headers.get('sign-in-providers')
  return {
    session: answer as Session | null,
    providers: header === null ? [] : (JSON.parse(decodeURIComponent(header)) as Provider[]),
  }
}

/** Comes with the session: only a page whose cache has lost the providers asks again. */
export const providersQuery = queryOptions({
  queryKey: ['providers'],
  queryFn: async () => (await fetchSession()).providers,
  staleTime: Infinity,
})

const SESSION = 'session'

/** The session of the browser, or null. After a change of the session, removes all data from the cache. */
export const sessionQuery = queryOptions({
  queryKey: [SESSION],
  queryFn: async ({ client, queryKey }) => {
    const { session, providers } = await fetchSession()
    const last = client.getQueryData<Session | null>(queryKey)
    if (last && last.session.id !== session?.session.id) {
      client.removeQueries({ predicate: (query) => query.queryKey[0] !== SESSION })
      client.getMutationCache().clear()
    }
    client.setQueryData(providersQuery.queryKey, providers)
    keepDraftsOf(session?.user.id)
    return session
  },
})

/** Sends a code. Returns the folder with the e-mail if the service sends no e-mails, as in development. */
export async function sendCode(email: string, language: string) {
  const body = { email, type: 'sign-in' }
  const { headers } = await send('auth/email-otp/send-verification-otp', body, {
    'accept-language': language,
  })
  return decodeURI(headers.get('outbox') ?? '')
}
export const signIn = (email: string, otp: string) => call('sign-in/email-otp', { email, otp })

/** Leaves the page for a provider, which sends the person back to the path. */
const leaveTo = (operation: string) => async (provider: string) => {
  const callbackURL = window.location.pathname + window.location.search
  const { url } = await call<{ url: string }>(operation, { provider, callbackURL })
  window.location.assign(url)
}
export const continueWith = leaveTo('sign-in/social')
export const connect = leaveTo('link-social')

/** A provider that the person has connected. */
export interface Connection {
  id: string
  providerId: string
}

export const connectionsQuery = queryOptions({
  queryKey: ['connections'],
  queryFn: () => call<Connection[]>('list-accounts'),
})
export const disconnect = (accountId: string) => call('unlink-account', { accountId })

export const signOut = () => call('sign-out', {})
export const updateName = (name: string) => call('update-user', { name })

export interface UserPage {
  users: User[]
  total: number
}

/** The key of all queries about other accounts. */
export const peopleKey = ['people']

/** Returns a page of all accounts, the newest first. `search` is a part of the e-mail address. */
export const listUsers = ({ search, offset, limit }: { search: string; offset: number; limit: number }) => {
  const query = new URLSearchParams({
    limit: String(limit),
    offset: String(offset),
    sortBy: 'createdAt',
    sortDirection: 'desc',
  })
  if (search) query.set('searchValue', search)
  return call<UserPage>(`admin/list-users?${query}`)
}
export const setRole = (userId: string, role: User['role']) => call('admin/set-role', { userId, role })
export const banUser = (userId: string, banReason?: string) => call('admin/ban-user', { userId, banReason })
export const unbanUser = (userId: string) => call('admin/unban-user', { userId })
export const impersonate = (userId: string) => call('admin/impersonate-user', { userId })
export const stopImpersonating = () => call('admin/stop-impersonating', {})
