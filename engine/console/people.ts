import { ORPCError } from '@orpc/server'
import { randomBytes } from 'node:crypto'
import type { Settings } from '../settings/settings.ts'
import type { Log } from '../call/context.ts'
import type { App } from '../app/resource.ts'
import type { Connection } from '../db/connection/database.ts'
import { findByEmail } from '../db/accounts/users.ts'
import { disableStoragesAfter } from '../identity/async-storages.ts'
import type { Auth } from '../identity/better-auth.ts'
import { grant } from '../operator/people/admin.ts'
import { addAccount, type SampleAccount, sampleAccounts } from '../operator/seed.ts'
import type { SamplePerson } from './contract.ts'

/** A link that signs in works once, for this time, in milliseconds. */
const LINK_LIFETIME = 60_000

const MAX_LINKS = 100

/** The components of the service with which the console works. */
export interface ServiceParts extends Pick<Connection, 'db' | 'notifications'> {
  app: App
  auth: Auth
  settings: Settings
  log: Log
  /** Aborted when the service stops. */
  closing: AbortController
}

/** The sample people. `example.com` is reserved (RFC 2606), so that no real account has one of the addresses. */
export const samplePeople: Record<SamplePerson, SampleAccount> = {
  ...sampleAccounts('ada@example.com'),
  admin: { email: 'admin@example.com', name: 'Administrator' },
}

export type People = ReturnType<typeof createPeople>

export function createPeople({ app, auth, db, notifications, settings }: ServiceParts) {
  const links = new Map<string, { person: SamplePerson; expiresAt: number }>()

  /** Creates the account if it does not exist, and gives the administrator the role. */
  async function requireAccount(person: SamplePerson) {
    const account = samplePeople[person]
    const found = (await findByEmail(db, account.email)) ?? (await addAccount(db, account))
    // `grant` is a command for operators. Here it uses the database of this process, and prints nothing.
    if (person === 'admin' && found.role !== 'admin')
      await grant(
        {
          loadApp: () => Promise.resolve(app),
          environment: {},
          print: () => undefined,
          service: { db, notifications, settings },
        },
        account.email,
      )
  }

  /** Signs a sample person in. Returns the `Set-Cookie` headers of the session. */
  async function signIn(person: SamplePerson): Promise<string[]> {
    await requireAccount(person)
    const { email } = samplePeople[person]
    // Each call of `auth.api` enables the AsyncLocalStorages of better-auth, which make the process slower (async-storages.ts).
    const { headers } = await disableStoragesAfter(async () => {
      const otp = await auth.api.createVerificationOTP({ body: { email, type: 'sign-in' } })
      const request = new Headers({ 'user-agent': 'Console for developers' })
      return auth.api.signInEmailOTP({ body: { email, otp }, headers: request, returnHeaders: true })
    }).catch((cause: unknown) => {
      throw new ORPCError('CONFLICT', { message: `${email} cannot sign in, for example after a ban`, cause })
    })
    return headers.getSetCookie()
  }

  return {
    signIn,

    /** Creates the secret of a link that signs a person in. */
    createLink(person: SamplePerson) {
      const now = Date.now()
      // Removes expired links and, above the limit, the oldest: a Map has the order of insertion.
      for (const [old, { expiresAt }] of links)
        if (expiresAt <= now || links.size >= MAX_LINKS) links.delete(old)
      const secret = randomBytes(32).toString('base64url')
      links.set(secret, { person, expiresAt: now + LINK_LIFETIME })
      return secret
    },

    /** Returns the person of a link, and ends the link. Undefined if the link does not exist or has expired. */
    useLink(secret: string) {
      const link = links.get(secret)
      links.delete(secret)
      return link && link.expiresAt > Date.now() ? link.person : undefined
    },
  }
}
