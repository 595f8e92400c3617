import { issuer } from '@openauthjs/openauth'
import { createClient } from '@openauthjs/openauth/client'
import type { Provider } from '@openauthjs/openauth/provider/provider'
import { MemoryStorage } from '@openauthjs/openauth/storage/memory'
import type { StorageAdapter } from '@openauthjs/openauth/storage/storage'
import { createSubjects } from '@openauthjs/openauth/subject'
import { afterAll, vi } from 'vitest'
import { z } from 'zod'

import { redirectUri, type Tokens } from './oauth-app.ts'

export const subjects = createSubjects({ user: z.object({ id: z.string() }) })

interface Options {
  storage?: StorageAdapter
  ttl?: { reuse: number; retention: number }
}

/**
 * Creates an issuer of the library OpenAuth, without the additional checks of the service. Some tests prove that
 * this issuer has a fault. Other tests prove that the service does not have this fault.
 */
export function createBareIssuer(origin: string, { storage = MemoryStorage(), ttl }: Options = {}) {
  const account: Provider<{ id: string }> = {
    type: 'account',
    init: (route, { success }) => {
      route.get('/authorize', (context) => success(context, { id: 'ada' }))
    },
  }
  const bare = issuer({
    providers: { account },
    subjects,
    storage,
    ...(ttl && { ttl }),
    success: (respond, { id }) => respond.subject('user', { id }),
  })
  const authorize = (parameters: Record<string, string> = {}, headers = {}) =>
    bare.request(
      `${origin}/authorize?${new URLSearchParams({
        client_id: 'an-app',
        redirect_uri: redirectUri,
        response_type: 'code',
        ...parameters,
      }).toString()}`,
      { headers },
    )
  /** Signs in and returns the URL of the redirect to the app. */
  const obtainRedirect = async (parameters: Record<string, string> = {}) => {
    const started = await authorize(parameters)
    const cookie = started.headers.getSetCookie().map((value) => value.split(';', 1)[0])
    const signedIn = await bare.request(new URL(started.headers.get('location') ?? '', origin).href, {
      headers: { cookie: cookie.join('; ') },
    })
    return new URL(signedIn.headers.get('location') ?? '')
  }
  const post = async (fields: Record<string, string>) =>
    bare.request(`${origin}/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ client_id: 'an-app', redirect_uri: redirectUri, ...fields }).toString(),
    })
  const redeem = (location: URL, fields: Record<string, string> = {}) =>
    post({ grant_type: 'authorization_code', code: location.searchParams.get('code') ?? '', ...fields })
  const obtainTokens = async () => (await (await redeem(await obtainRedirect())).json()) as Tokens
  const createVerifyingClient = (clientID: string) =>
    createClient({
      clientID,
      issuer: origin,
      fetch: async (input: string, init?: RequestInit) => bare.request(input, init),
    })
  return { bare, storage, authorize, obtainRedirect, post, redeem, obtainTokens, createVerifyingClient }
}

/**
 * Records the console output of the process instead of printing the output. Call this function before a service starts,
 * because a logger can keep a reference to the original functions of the console.
 */
export function captureOutput() {
  const lines: string[] = []
  const record = (...parts: unknown[]) => {
    lines.push(parts.map(String).join(' '))
  }
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const)
    vi.spyOn(console, method).mockImplementation(record)
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      record(text)
      return true
    })
  afterAll(() => vi.restoreAllMocks())
  return lines
}
