import { createRouterClient } from '@orpc/server'
import { randomBytes } from 'node:crypto'

import type { CallContext, Client } from '../contract/client.ts'
import { createContext } from './guard/authentication.ts'
import type { Letter } from './identity/mail.ts'
import { router } from './procedures/index.ts'
import { openServices, type OpenServices } from './service.ts'
import { readSettings } from './settings.ts'

export interface Tallystick {
  /** The client of somebody new, or of whoever has this address; each call signs in another device. */
  person: (email?: string) => Promise<Client>
  /** The client of somebody who is not signed in. */
  stranger: Client
  /** Signs somebody in by the code that reaches them. Answers the `cookie` header that says so. */
  signIn: (email: string) => Promise<string>
  /** A client that calls with these headers. */
  client: (headers: Record<string, string>) => Client
  /** What the service is made of, to serve it over HTTP as well. */
  services: Omit<OpenServices, 'close'>
  /** Every letter sent, oldest first. */
  letters: Letter[]
  close: () => Promise<void>
}

/**
 * The whole service in process, without a port: the same procedures, guard, validation and errors as over HTTP,
 * called by the same typed client. `environment` are settings by their names; the database is in memory by default.
 */
export async function createTallystick(environment: Record<string, string> = {}): Promise<Tallystick> {
  const settings = readSettings({
    DATABASE_URL: 'memory:',
    AUTH_SECRET: randomBytes(32).toString('hex'),
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'silent',
    ...environment,
  })
  const letters: Letter[] = []
  const { close, ...services } = await openServices(settings, (letter) => {
    letters.push(letter)
    return Promise.resolve()
  })

  const client = (headers: Record<string, string>): Client =>
    createRouterClient(router, {
      context: ({ reply, ...call }: CallContext) =>
        createContext(services, { ...headers, ...call.headers }, { reply }),
    })

  const signIn = async (email: string) => {
    const { api } = services.auth
    await api.sendVerificationOTP({ body: { email, type: 'sign-in' } })
    const otp = letters.findLast(({ to }) => to === email.toLowerCase())?.subject.slice(0, 6) ?? ''
    const { headers } = await api.signInEmailOTP({ body: { email, otp }, returnHeaders: true })
    return cookieOf(headers)
  }

  return {
    person: async (email = somebody()) => client({ cookie: await signIn(email) }),
    stranger: client({}),
    signIn,
    client,
    services,
    letters,
    close,
  }
}

const somebody = () => `${randomBytes(8).toString('hex')}@example.com`

/** The cookies that an answer sets, as a request sends them. */
export const cookieOf = (headers: Headers) =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0])
    .join('; ')
