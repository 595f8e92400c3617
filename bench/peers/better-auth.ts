import { betterAuth } from 'better-auth'
import { type DB, drizzleAdapter } from 'better-auth/adapters/drizzle'
import { admin, emailOTP } from 'better-auth/plugins'

import { accounts, users, verifications } from '../../engine/db/accounts/users.ts'
import { sessions } from '../../engine/db/accounts/sessions.ts'
import { SIGN_IN_CODE } from '../environment.ts'

interface Options {
  baseUrl: string
  secret: string
}

/**
 * Creates better-auth with its default options. The cookie cache stays disabled, because better-auth would accept a
 * revoked session until the cached copy of the session expires.
 */
export const createAuth = ({ baseUrl, secret }: Options, db: DB) =>
  betterAuth({
    baseURL: baseUrl,
    basePath: '/api/auth',
    secret,
    database: drizzleAdapter(db, {
      provider: 'pg',
      schema: { user: users, session: sessions, account: accounts, verification: verifications },
    }),
    telemetry: { enabled: false },
    rateLimit: { enabled: false },
    plugins: [
      emailOTP({ generateOTP: () => SIGN_IN_CODE, sendVerificationOTP: () => Promise.resolve() }),
      admin(),
    ],
  })
