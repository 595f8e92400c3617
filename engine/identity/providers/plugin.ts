import { runWithTransaction } from '@better-auth/core/context'
import type { BetterAuthOptions, BetterAuthPlugin } from 'better-auth'
import {
  APIError,
  createAuthEndpoint,
  createAuthMiddleware,
  getAuthoritativeSessionFromCtx,
  sensitiveSessionMiddleware,
} from 'better-auth/api'
import type { Logger } from 'pino'
import { z } from 'zod'

import * as audit from '../../db/accounts/audit.ts'
import { endByProvider, type SessionRow } from '../../db/accounts/sessions.ts'
import { disconnect, lockPerson } from '../../db/accounts/users.ts'
import { connectionActions, declaredProviders, offeredProviders, type SignIn } from '../../app/sign-in.ts'
import type { Settings } from '../../settings/settings.ts'
import { currentAuditSource } from '../audit-context.ts'
import type { Mailer } from '../mail.ts'
import { currentTransaction } from '../transactions.ts'
import { createCallback } from './callback.ts'
import { createNotices, type SendNotice } from './notices.ts'
import { providerOptions } from './options.ts'

/** Maximum age of a sign-in with a code that permits to connect or disconnect a provider, in milliseconds. */
const MAX_CODE_AGE = 10 * 60_000

/** The operations that need a recent code: otherwise, a stolen session could give lasting access to the account. */
const OPERATIONS = ['/link-social', '/unlink-account']

interface Parts {
  settings: Pick<Settings, 'adminEmails' | 'production'>
  appName: string
  mailer: Mailer
  log: Logger
}

/** What the sign-in by providers adds to better-auth. */
export interface Providers {
  plugins: BetterAuthPlugin[]
  options: Pick<BetterAuthOptions, 'socialProviders' | 'account'>
}

/** Creates the options of better-auth for the sign-in by providers. Only for applications that declare providers. */
export function createProviders(
  signIn: SignIn,
  { settings: { adminEmails, production }, appName, mailer, log }: Parts,
): Providers {
  const missing = declaredProviders(signIn).flatMap(({ id, isComplete }) => (isComplete ? [] : [id]))
  const message = `the sign-in providers without an address, \`clientId\` or \`clientSecret\`: ${missing.join(', ')}`
  if (missing.length > 0 && production)
    throw new Error(`In production, no value may be missing in ${message}`)
  if (missing.length > 0) log.warn(`not offered: ${message}`)
  const { social, plugin } = providerOptions(signIn)
  const sendNotice = createNotices({ appName, providers: offeredProviders(signIn), mailer, log })
  return {
    options: {
      socialProviders: social,
      // For operations of better-auth besides the callback of the engine.
      account: {
        updateAccountOnSignIn: false,
        accountLinking: { disableImplicitLinking: true, trustedProviders: [] },
      },
    },
    plugins: [
      plugin,
      {
        id: 'providers',
        endpoints: {
          callbackOAuth: createCallback({ adminEmails, log, sendNotice }),
          unlinkAccount: createDisconnect(sendNotice),
        },
        hooks: {
          before: [{ matcher: ({ path }) => OPERATIONS.includes(path ?? ''), handler: requireRecentCode }],
        },
      },
    ],
  }
}

/** Refuses sessions that a provider, an administrator, or an old code has made. */
const requireRecentCode = createAuthMiddleware(async (context) => {
  const found = await getAuthoritativeSessionFromCtx(context)
  // The session of better-auth lacks the internal field `provider`.
  const session = await context.context.adapter.findOne<
    Pick<SessionRow, 'createdAt' | 'impersonatedBy' | 'provider'>
  >({
    model: 'session',
    where: [{ field: 'id', value: found?.session.id ?? '' }],
  })
  if (!session) throw new APIError('UNAUTHORIZED', { message: 'Sign in first' })
  const { createdAt, impersonatedBy, provider } = session
  if (impersonatedBy)
    throw new APIError('FORBIDDEN', { message: 'Only the owner of the account may do this' })
  if (provider || Date.now() - createdAt.getTime() > MAX_CODE_AGE)
    throw new APIError('FORBIDDEN', {
      code: 'CODE_REQUIRED',
      message: 'Sign in again with a code: the last code must be less than ten minutes old',
    })
})

/**
 * Creates the endpoint that disconnects a provider, and ends the sessions that the provider has made. Replaces the endpoint of
 * better-auth, which has no transaction, and keeps the sessions.
 */
const createDisconnect = (sendNotice: SendNotice) =>
  createAuthEndpoint(
    '/unlink-account',
    { method: 'POST', body: z.object({ accountId: z.string() }), use: [sensitiveSessionMiddleware] },
    async (context) => {
      const { user } = context.context.session
      const provider = await runWithTransaction(context.context.adapter, async () => {
        const { db } = currentTransaction()
        const source = currentAuditSource()
        await lockPerson(db, user.id)
        const removed = await disconnect(db, user.id, context.body.accountId)
        if (!removed) throw new APIError('NOT_FOUND', { message: 'This provider is not connected' })
        await endByProvider(db, user.id, removed.providerId, source)
        await audit.insert(db, {
          ...source,
          subject: user.id,
          action: connectionActions.disconnect,
          outcome: 'accepted',
          detail: removed.providerId,
        })
        return removed.providerId
      })
      await sendNotice('providerDisconnected', user.email, provider, context.headers)
      return context.json({ status: true })
    },
  )
