import { betterAuth, type BetterAuthOptions, type BetterAuthPlugin } from 'better-auth'
import { createAuthMiddleware, signOut, updateUser } from 'better-auth/api'
import { drizzleAdapter } from 'better-auth/adapters/drizzle'
import { emailOTP } from 'better-auth/plugins'
import { createHmac } from 'node:crypto'
import type { Logger } from 'pino'

import * as account from '../db/accounts/account.ts'
import * as audit from '../db/accounts/audit.ts'
import type { PersonalData } from '../db/accounts/personal-data.ts'
import * as tables from '../db/accounts/users.ts'
import type { Database } from '../db/connection/database.ts'
import { sessions } from '../db/accounts/sessions.ts'
import {
  amendAuditEntry,
  createTransactionalAdapter,
  currentDatabase,
  type NewPerson,
  withSignUpHook,
} from './transactions.ts'
import { audited } from './audited-endpoints.ts'
import { cookieOptions, createCookieReader } from './cookies.ts'
import { adminPlugin } from './impersonation.ts'
import { codesOfDelivery, type Mailer, signInEmail } from './mail.ts'
import { negotiateLanguage } from '../texts/engine-texts.ts'
import { detectOutages } from './outage-detection.ts'
import type { Settings } from '../settings/settings.ts'
import type { Providers } from './providers/plugin.ts'

/**
 * The header that passes the IP address of the caller to better-auth. Callers cannot set this header, because
 * engine/http/endpoints/better-auth.ts creates all headers of the request.
 */
export const ADDRESS_HEADER = 'x-tallystick-address'

export type Auth = ReturnType<typeof createAuth>

/**
 * A session field that only this service writes. better-auth does not accept the field in requests, and does not
 * include the field in responses.
 */
const internalField = { type: 'string', required: false, input: false, returned: false } as const

/** What the application adds. */
interface Doors {
  providers?: Providers | undefined
  onSignUp?: ((person: NewPerson, db: Database) => Promise<void>) | undefined
}

const NONE: Providers = { options: {}, plugins: [] }

/** Creates the better-auth instance: sign-in by e-mailed codes, sessions, and the admin endpoints. */
export function createAuth(
  settings: Settings,
  db: Database,
  mailer: Mailer,
  log: Logger,
  app: { name: string; cookiePrefix: string; personalData: PersonalData },
  { providers = NONE, onSignUp }: Doors = {},
) {
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
      createTransactionalAdapter(db, (database) => {
        const adapter = drizzleAdapter(database, { provider: 'pg', schema })(options)
        const hooked = withSignUpHook(adapter, (person) => onSignUp?.(person, database))
        return detectOutages({ ...adapter, ...hooked })
      }),
    telemetry: { enabled: false },
    // Throws errors, so that engine/http/server/app.ts handles the errors. better-auth itself would write error
    // messages to its log and traces, and a message may contain values of an SQL statement.
    onAPIError: { throw: true },
    ...providers.options,
    experimental: { instrumentation: { enabled: false } },
    // With `deferSessionRefresh`, reading a session does not extend the session: engine/guard/authentication.ts requests
    // each renewal. `freshAge: 0` disables the check of the age of a session in better-auth.
    session: {
      freshAge: 0,
      deferSessionRefresh: true,
      cookieCache: { enabled: false },
      additionalFields: {
        clientId: internalField,
        scope: internalField,
        administratorSessionId: internalField,
        provider: internalField,
      },
    },
    // engine/guard/rate-limiter.ts implements all rate limits.
    rateLimit: { enabled: false },
    advanced: {
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER], ipv6Subnet: 64 },
      ...cookieOptions(baseUrl, app.cookiePrefix),
    },
    hooks: { before: filterCookies },
    databaseHooks: {
      user: {
        // Deletes the rows of the person in all other tables, because better-auth deletes only rows of its own tables.
        delete: {
          before: async (user) => {
            amendAuditEntry({ subject: await account.remove(currentDatabase(db), user, app.personalData) })
          },
        },
      },
      session: {
        create: {
          before: async (session, context) => {
            // The code proves the address to this service. What a provider says about an address makes nobody an administrator.
            if (!session.provider) await promote(currentDatabase(db), session.userId, adminEmails)
            return {
              data: {
                ...session,
                // Stores the complete IP address, because better-auth would store only the /64 prefix of an IPv6
                // address. Needed until better-auth stores an address as it was sent.
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
          // Uses an HMAC with a secret key, because a code has only six digits: with a plain hash, an attacker with a
          // copy of the database could compute the hashes of all codes, and find the code of an account.
          storeOTP: {
            hash: (code) => Promise.resolve(createHmac('sha256', authSecret).update(code).digest('hex')),
          },
          // Logs a delivery error instead of throwing it, so that the answer is always the same. A different answer
          // could reveal whether an account exists.
          sendVerificationOTP: ({ email, otp }, request) =>
            mailer(
              signInEmail(
                email,
                otp,
                app.name,
                negotiateLanguage(request?.headers?.get('accept-language') ?? ''),
              ),
            ).catch((error: unknown) => {
              log.error(deliveryFailure(settings, error), 'a sign-in e-mail could not be delivered')
            }),
        }),
      ),
      audited(adminPlugin()),
      audited(ownAccount),
      ...providers.plugins,
    ],
    logger: {
      level: 'warn',
      // Omits the message, because some messages contain an e-mail address or an origin from the request.
      log: (level, _, ...details) => {
        log[level](
          { err: details.find((detail) => detail instanceof Error) },
          'better-auth reports a problem',
        )
      },
    },
  })
}

/** The same endpoints in a plugin, because `audited` wraps only endpoints of plugins. Needed as long as `audited`. */
const ownAccount = {
  id: 'own-account',
  endpoints: { updateUser: updateUser(), signOut },
} satisfies BetterAuthPlugin

/** Makes a person an administrator if ADMIN_EMAILS contains the person's e-mail address. */
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

/** Returns the host of the mail server (or the outbox folder) and the codes of a delivery error. */
const deliveryFailure = ({ smtpUrl, outbox }: Settings, error: unknown) => ({
  mailServer: smtpUrl === undefined ? outbox : new URL(smtpUrl).host,
  ...codesOfDelivery(error),
})

/** Passes only verified cookies to better-auth, as to the guard. Needed as long as `createCookieReader`. */
const filterCookies = createAuthMiddleware(async ({ headers, context }) => {
  const cookie = headers?.get('cookie')
  if (!cookie) return undefined
  const cookies = await createCookieReader(context)(cookie)
  const verified = Array.from(cookies.values(), ({ pair }) => pair).join('; ')
  return { context: { headers: new Headers({ cookie: verified }) } }
})
