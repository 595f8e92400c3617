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
import { currentDatabase, amendEntry, createTransactionalAdapter } from '../telemetry/audit.ts'
import { audited } from './audited-endpoints.ts'
import { cookieOptions, createCookieReader } from './cookies.ts'
import { adminPlugin } from './impersonation.ts'
import { type Mailer, signInEmail } from './mail.ts'
import { detectOutages, rethrowOutages } from './outage-detection.ts'
import type { Identity } from '../context.ts'
import type { Settings } from '../settings.ts'

/** The header that passes the caller's IP address to better-auth. Callers cannot set this header: see src/http/auth.ts. */
export const ADDRESS_HEADER = 'x-tallystick-address'

export type Auth = ReturnType<typeof createAuth>

/** A session field that only this service writes. better-auth neither accepts nor returns the field. */
const internalField = { type: 'string', required: false, input: false, returned: false } as const

/** Creates the better-auth instance: sign-in by e-mailed codes, sessions, and the admin endpoints. */
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
      createTransactionalAdapter(db, (database) =>
        detectOutages(drizzleAdapter(database, { provider: 'pg', schema })(options)),
      ),
    telemetry: { enabled: false },
    // src/http/app.ts handles errors. better-auth would log and trace the error messages, which may contain values of a
    // statement.
    onAPIError: { throw: true },
    experimental: { instrumentation: { enabled: false } },
    // Only src/guard/authentication.ts extends sessions. `freshAge: 0` disables better-auth's check of the session's age.
    session: {
      freshAge: 0,
      deferSessionRefresh: true,
      cookieCache: { enabled: false },
      additionalFields: {
        clientId: internalField,
        scope: internalField,
        administratorSessionId: internalField,
      },
    },
    // src/guard/rate-limits.ts implements all rate limits.
    rateLimit: { enabled: false },
    advanced: {
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER], ipv6Subnet: 64 },
      ...cookieOptions(baseUrl),
    },
    hooks: { before: filterCookies },
    databaseHooks: {
      user: {
        // Deletes the other rows of the person: better-auth deletes only the rows of its own tables.
        delete: {
          before: async (user) => {
            amendEntry({ subject: await account.remove(currentDatabase(db), user) })
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
                // better-auth would store only the /64 prefix of an IPv6 address.
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
          // HMAC instead of a plain hash: a code has only six digits, so an attacker with a copy of the database could compute
          // it from a plain hash.
          storeOTP: {
            hash: (code) => Promise.resolve(createHmac('sha256', authSecret).update(code).digest('hex')),
          },
          // The answer is the same whether or not the e-mail was sent: a delivery error must not reveal whether an account
          // exists.
          sendVerificationOTP: ({ email, otp }) =>
            mailer(signInEmail(email, otp)).catch((error: unknown) => {
              log.error(deliveryFailure(error), 'a sign-in e-mail could not be delivered')
            }),
        }),
      ),
      audited(adminPlugin()),
    ],
    logger: {
      level: 'warn',
      // The message is omitted, because some messages contain an e-mail address or an origin from the request.
      log: (level, _, ...details) => {
        log[level](
          { err: details.find((detail) => detail instanceof Error) },
          'better-auth reports a problem',
        )
      },
    },
  })
}

/** Makes a person an administrator if ADMIN_EMAILS contains the e-mail address. */
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

/** Returns the codes of a delivery error. Omits the message of the mail server, which may contain the e-mail. */
function deliveryFailure(error: unknown) {
  const fields = error instanceof Error ? Object.entries(error) : []
  return Object.fromEntries(fields.filter(([key]) => ['code', 'command', 'responseCode'].includes(key)))
}

/** Passes only cookies with a verified signature to better-auth, so that better-auth and the guard use the same cookies. */
const filterCookies = createAuthMiddleware(async ({ headers, context }) => {
  const cookie = headers?.get('cookie')
  if (!cookie) return undefined
  const cookies = await createCookieReader(context)(cookie)
  const verified = Array.from(cookies.values(), ({ pair }) => pair).join('; ')
  return { context: { headers: new Headers({ cookie: verified }) } }
})

/** Maximum size of the cache of verified cookies, in characters. */
const MAX_VERIFIED_COOKIES = 4_000_000

/**
 * The operations on cookies that the guard and the protocols use. As in better-auth, a session token is accepted only in a
 * cookie with a valid signature. Verified cookies are cached, because verification is half of the cost of a call. Each call
 * still queries the session in the database.
 */
export async function createCookieIdentity(auth: Auth): Promise<Omit<Identity, 'verifyToken'>> {
  const context = await auth.$context
  const { expiresIn, updateAge } = context.sessionConfig
  const read = createCookieReader(context)
  const verified = new LRUCache<string, string>({
    maxSize: MAX_VERIFIED_COOKIES,
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
