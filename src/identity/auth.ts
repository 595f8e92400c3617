import { betterAuth, type BetterAuthOptions } from 'better-auth'
import { createAuthMiddleware } from 'better-auth/api'
import { drizzleAdapter } from 'better-auth/adapters/drizzle'
import { emailOTP } from 'better-auth/plugins'
import { LRUCache } from 'lru-cache'
import { createHmac } from 'node:crypto'
import type { Logger } from 'pino'

import * as account from '../../db/account.ts'
import * as audit from '../../db/audit.ts'
import * as tables from '../../db/auth.ts'
import type { Database } from '../../db/database.ts'
import { sessions } from '../../db/sessions.ts'
import { currentDatabase, note, transactional } from '../telemetry/audit.ts'
import { audited } from './audited-endpoints.ts'
import { cookieOptions, createCookieReader } from './cookies.ts'
import { administration } from './impersonation.ts'
import { type Mailer, signInLetter } from './mail.ts'
import { detectOutages, rethrowOutages } from './outage-detection.ts'
import type { Identity } from '../context.ts'
import type { Settings } from '../settings.ts'

/** The header that tells better-auth who is at the other end. No caller can set it: see src/http/auth.ts. */
export const ADDRESS_HEADER = 'x-tallystick-address'

export type Auth = ReturnType<typeof createAuth>

/** Written by this service alone: no caller can set it. */
const ownField = { type: 'string', required: false, input: false, returned: false } as const

/** Sign-in by a code sent to an address, sessions, and the administrative area. */
export function createAuth(settings: Settings, db: Database, mailer: Mailer, log: Logger) {
  const { baseUrl, authSecret, adminEmails } = settings
  const schema = {
    user: tables.users,
    session: sessions,
    account: tables.accounts,
    verification: tables.verifications,
  }
  return betterAuth({
    baseURL: baseUrl,
    basePath: '/api/auth',
    secret: authSecret,
    database: (options: BetterAuthOptions) =>
      transactional(db, (database) =>
        detectOutages(drizzleAdapter(database, { provider: 'pg', schema })(options)),
      ),
    telemetry: { enabled: false },
    // What fails is for src/http/app.ts. Its message may repeat a statement's values, which better-auth would print and trace.
    onAPIError: { throw: true },
    experimental: { instrumentation: { enabled: false } },
    // Prolonged only where src/guard/authentication.ts says so, and as fresh as the code that opened it.
    session: {
      freshAge: 0,
      deferSessionRefresh: true,
      cookieCache: { enabled: false },
      additionalFields: { clientId: ownField, scope: ownField, administratorSessionId: ownField },
    },
    // src/guard/rate-limits.ts limits every operation, by one mechanism.
    rateLimit: { enabled: false },
    advanced: {
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER], ipv6Subnet: 64 },
      ...cookieOptions(baseUrl),
    },
    hooks: { before: ownCookies },
    databaseHooks: {
      user: {
        // better-auth would leave the tables that it does not know.
        delete: {
          before: async (user) => {
            note({ subject: await account.remove(currentDatabase(db), user) })
          },
        },
      },
      session: {
        create: {
          before: async (session, context) => {
            await promote(currentDatabase(db), session.userId, adminEmails)
            return {
              data: {
                ...session,
                // better-auth would keep an IPv6 address only as far as it limits it by.
                ipAddress: context?.headers?.get(ADDRESS_HEADER) ?? session.ipAddress,
                ...(session.impersonatedBy
                  ? { administratorSessionId: context?.context.session?.session.id }
                  : {}),
              },
            }
          },
        },
      },
    },
    plugins: [
      audited(
        emailOTP({
          otpLength: 6,
          expiresIn: 300,
          allowedAttempts: 3,
          // Keyed, so that a copy of the database does not give six digits away.
          storeOTP: {
            hash: (code) => Promise.resolve(createHmac('sha256', authSecret).update(code).digest('hex')),
          },
          // One answer, whatever becomes of the letter: it must not tell who has an account.
          sendVerificationOTP: ({ email, otp }) =>
            mailer(signInLetter(email, otp)).catch((error: unknown) => {
              log.error(deliveryFailure(error), 'a sign-in letter could not be delivered')
            }),
        }),
      ),
      audited(administration()),
    ],
    logger: {
      level: 'warn',
      // Without the message: some repeat an address or an origin that a caller sent.
      log: (level, _, ...details) => {
        log[level](
          { err: details.find((detail) => detail instanceof Error) },
          'better-auth reports a problem',
        )
      },
    },
  })
}

/** Makes an administrator of a person whose address the operator lists in ADMIN_EMAILS. */
async function promote(db: Database, userId: string, adminEmails: string[]) {
  if (await tables.promote(db, userId, adminEmails))
    await audit.insert(db, {
      ...audit.OPERATOR,
      action: 'admin.set-role',
      outcome: 'accepted',
      subject: userId,
      detail: 'admin',
    })
}

/** Why, without what the mail server said: it may repeat the letter. */
function deliveryFailure(error: unknown) {
  const known = error instanceof Error ? Object.entries(error) : []
  return Object.fromEntries(known.filter(([key]) => ['code', 'command', 'responseCode'].includes(key)))
}

/** Hands better-auth the cookies of src/identity/cookies.ts alone, so that it reads the same ones as the guard. */
const ownCookies = createAuthMiddleware(async ({ headers, context }) => {
  const cookie = headers?.get('cookie')
  if (!cookie) return undefined
  const cookies = await createCookieReader(context)(cookie)
  const own = Array.from(cookies.values(), ({ pair }) => pair).join('; ')
  return { context: { headers: new Headers({ cookie: own }) } }
})

/** Size of the cache of verified cookies, in characters. */
const VERIFIED_COOKIES = 4_000_000

/**
 * The operations on cookies that the guard and the protocols use. The session token is read from the signed cookie, as
 * better-auth does: the raw token is not a credential. Verified signatures are cached, because verification is half of
 * the cost of a call. Whether the session still exists is read from the database for each call.
 */
export async function createCookieIdentity(auth: Auth): Promise<Omit<Identity, 'verifyToken'>> {
  const context = await auth.$context
  const { expiresIn, updateAge } = context.sessionConfig
  const read = createCookieReader(context)
  const verified = new LRUCache<string, string>({
    maxSize: VERIFIED_COOKIES,
    sizeCalculation: (token, cookie) => cookie.length + token.length,
  })

  return {
    handle: (request) => rethrowOutages(() => auth.handler(request)),

    async readToken(cookie) {
      if (cookie === undefined) return undefined
      const token =
        verified.get(cookie) ?? (await read(cookie)).get(context.authCookies.sessionToken.name)?.value
      if (token) verified.set(cookie, token)
      return token
    },

    async renew(cookie, expiresAt) {
      if (expiresAt.getTime() - (expiresIn - updateAge) * 1000 > Date.now()) return []
      const request = { method: 'POST', headers: new Headers({ cookie }), returnHeaders: true } as const
      const { headers } = await rethrowOutages(() => auth.api.getSession(request))
      return headers.getSetCookie()
    },

    async signOut(cookie) {
      const request = { headers: new Headers({ cookie }), returnHeaders: true } as const
      const { headers } = await rethrowOutages(() => auth.api.signOut(request))
      return headers.getSetCookie()
    },
  }
}
