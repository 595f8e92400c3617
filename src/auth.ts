import { createHMAC } from '@better-auth/utils/hmac'
import { betterAuth } from 'better-auth'
import { drizzleAdapter } from 'better-auth/adapters/drizzle'
import { parseCookies } from 'better-auth/cookies'
import { admin, emailOTP } from 'better-auth/plugins'
import type { Logger } from 'pino'

import * as tables from '../db/auth.ts'
import type { Database } from '../db/index.ts'
import { sessions } from '../db/sessions.ts'
import { type Mailer, signInLetter } from './mail.ts'
import type { Settings } from './settings.ts'

/** The header that tells better-auth who is at the other end. No caller can set it: see transports/auth.ts. */
export const ADDRESS_HEADER = 'x-tallystick-address'

export type Auth = ReturnType<typeof createAuth>

const perMinute = (max: number) => ({ window: 60, max })

/** Sign-in by a code sent to an address, sessions, and the administrative area. */
export function createAuth(settings: Settings, db: Database, mailer: Mailer, log: Logger) {
  const { baseUrl, authSecret, rateLimits, adminEmails } = settings
  return betterAuth({
    baseURL: baseUrl,
    basePath: '/api/auth',
    secret: authSecret,
    database: drizzleAdapter(db, {
      provider: 'pg',
      schema: {
        user: tables.users,
        session: sessions,
        account: tables.accounts,
        verification: tables.verifications,
        rateLimit: tables.rateLimits,
      },
    }),
    telemetry: { enabled: false },
    // A session is as fresh as the code that opened it; asking again adds nothing.
    session: { freshAge: 0, cookieCache: { enabled: false } },
    rateLimit: {
      enabled: rateLimits,
      storage: 'database',
      customRules: {
        '/email-otp/send-verification-otp': perMinute(10),
        '/sign-in/email-otp': perMinute(30),
      },
    },
    advanced: { ipAddress: { ipAddressHeaders: [ADDRESS_HEADER], ipv6Subnet: 64 } },
    databaseHooks: {
      session: {
        create: { before: ({ userId }) => tables.promote(db, userId, adminEmails) },
      },
    },
    plugins: [
      emailOTP({
        otpLength: 6,
        expiresIn: 300,
        allowedAttempts: 3,
        // Keyed, so that a copy of the database does not give six digits away.
        storeOTP: { hash: (code) => createHMAC('SHA-256', 'hex').sign(authSecret, code) },
        // One answer, whatever becomes of the letter: it must not tell who has an account.
        sendVerificationOTP: ({ email, otp }) =>
          mailer(signInLetter(email, otp)).catch((error: unknown) => {
            log.error({ err: error }, 'a sign-in letter could not be delivered')
          }),
      }),
      admin(),
    ],
    logger: {
      level: 'warn',
      log: (level, message, ...details) => {
        log[level]({ err: details.find((detail) => detail instanceof Error) }, message)
      },
    },
  })
}

/** The token in the session cookie, if better-auth signed it. The raw token alone is no credential. */
export async function createTokenReader(auth: Auth) {
  const { secret, authCookies } = await auth.$context
  const hmac = createHMAC('SHA-256', 'base64')
  return async (cookies = '') => {
    const signed = parseCookies(cookies).get(authCookies.sessionToken.name) ?? ''
    const dot = signed.lastIndexOf('.')
    const [token, signature] = [signed.slice(0, dot), signed.slice(dot + 1)]
    const genuine = dot > 0 && (await hmac.verify(secret, token, signature).catch(() => false))
    return genuine ? token : undefined
  }
}
