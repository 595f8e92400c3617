import { runWithTransaction } from '@better-auth/core/context'
import type { AuthContext, Session, User } from 'better-auth'
import { createAuthEndpoint, isAPIError } from 'better-auth/api'
import { setSessionCookie } from 'better-auth/cookies'
import { getOAuthCallbackPath, linkOAuthAccount, parseState } from 'better-auth/oauth2'
import { ORPCError } from '@orpc/client'
import type { Logger } from 'pino'
import { z } from 'zod'

import * as audit from '../../db/accounts/audit.ts'
import { connectionActions } from '../../app/sign-in.ts'
import { endImpersonations } from '../../db/accounts/sessions.ts'
import { lockPerson } from '../../db/accounts/users.ts'
import { isConstraintViolation } from '../../db/errors.ts'
import { currentAuditSource, recordSignIn } from '../audit-context.ts'
import { currentTransaction } from '../transactions.ts'
import { type Identity, redeemCode } from './exchange.ts'
import type { SendNotice } from './notices.ts'
import { ProviderProblem } from './problems.ts'

interface Parts {
  adminEmails: readonly string[]
  log: Pick<Logger, 'warn'>
  sendNotice: SendNotice
}

type Auth = Pick<AuthContext, 'adapter' | 'internalAdapter'>

/** The answer of a provider (RFC 6749, section 4.1.2). Its own texts are ignored. */
const Answer = z.object({
  code: z.string().optional(),
  error: z.string().optional(),
  state: z.string().optional(),
  iss: z.string().optional(),
})

/** The path after a sign-in, with the code of a problem. `path` is relative (engine/http/endpoints/provider-operations.ts). */
export function withProblem(path: string, code: string) {
  const { pathname, searchParams } = new URL(path, 'http://localhost')
  searchParams.set('error', code)
  return `${pathname}?${searchParams.toString()}`
}

/**
 * Creates the endpoint to which providers send people back. Replaces the endpoint of better-auth for three reasons: its changes and the
 * entry of the audit trail are not in one transaction, it stores the tokens of the provider, and it connects existing accounts without a
 * code. Needed until better-auth separates the requests from the changes (1.7.25 does not).
 */
export const createCallback = ({ adminEmails, log, sendNotice }: Parts) =>
  createAuthEndpoint('/callback/:id', { method: 'GET', query: Answer }, async (context) => {
    const { context: auth, params, query } = context
    // Deletes the state, which is valid once. Only the browser that began has the cookie with the same state.
    // An invalid state makes better-auth throw a redirect to its own page of errors, which becomes one to the page of the service.
    const state = await parseState(context).catch((error: unknown) => {
      throw isAPIError(error) && error.statusCode < 400
        ? context.redirect(withProblem('/', 'PROVIDER_FAILED'))
        : error
    })
    try {
      const provider = auth.socialProviders.find(({ id }) => id === params.id)
      // An answer of another provider than the one of the beginning can be an attack (RFC 9700, section 4.4).
      if (!provider || state.providerId !== params.id)
        throw new ProviderProblem('PROVIDER_FAILED', 'the sign-in began at another provider')
      const { code, iss } = query
      if (code === undefined || query.error !== undefined)
        throw new ProviderProblem('PROVIDER_FAILED', 'the provider or the person refused')
      const redirectUri = auth.baseURL + getOAuthCallbackPath(provider)
      const identity = await redeemCode(provider, { code, iss }, state, redirectUri)
      const { link } = state
      if (link) {
        await runWithTransaction(auth.adapter, () => connect(context, link, identity))
        await sendNotice('providerConnected', link.email, provider.id, context.headers)
      } else {
        const run = () => runWithTransaction(auth.adapter, () => signIn(auth, identity, adminEmails))
        // Another sign-in has made the account in the meantime: the second attempt finds the account.
        const result = await run().catch((error: unknown) => {
          if (isConstraintViolation(error)) return run()
          throw error
        })
        if (result instanceof ProviderProblem) throw result
        await setSessionCookie(context, result)
        recordSignIn(true)
      }
    } catch (error) {
      const problem = toProblem(error)
      if (!state.link) recordSignIn(false)
      log.warn(
        { provider: params.id, code: problem.code, reason: problem.message },
        'a sign-in by a provider failed',
      )
      throw context.redirect(withProblem(state.callbackURL, problem.code))
    }
    throw context.redirect(state.callbackURL)
  })

/** Returns the problem that the page shows. Throws every other error. */
function toProblem(error: unknown): { code: string; message: string } {
  if (error instanceof ProviderProblem) return error
  // `onSignUp` of the application refuses the person.
  if (error instanceof ORPCError && error.status < 500)
    return { code: String(error.code), message: 'onSignUp refused' }
  throw error
}

/**
 * Signs in the person whose account is connected, or makes an account. An account that exists is connected only by its owner, who has
 * signed in with a code: a provider that claims a foreign address gets nothing. For the same reason, no provider makes the account of an
 * administrator.
 */
async function signIn(
  { internalAdapter }: Auth,
  identity: Identity,
  adminEmails: readonly string[],
): Promise<{ session: Session; user: User } | ProviderProblem> {
  const { db } = currentTransaction()
  const { key } = identity
  // In this order: a parallel first sign-in may commit between the two queries, and the second then finds its connection.
  const sameAddress = await internalAdapter.findUserByEmail(identity.email)
  const owner = await internalAdapter.findAccountOwnerByKey(key)
  const connected: User | undefined = owner?.kind === 'owned' ? owner.user : undefined
  // A person who is not connected yet has no row to lock.
  if (connected) await lockPerson(db, connected.id)
  if (!connected && (sameAddress || adminEmails.includes(identity.email)))
    throw new ProviderProblem('NOT_CONNECTED', 'the account with the address is not connected')
  const user = connected ?? (await signUp(internalAdapter, identity))
  const entry = {
    ...currentAuditSource(),
    action: 'sign-in',
    subject: user.id,
    detail: key.providerId,
  } as const
  try {
    const session = await internalAdapter.createSession(user.id, false, { provider: key.providerId })
    await endImpersonations(db, user.id)
    await audit.insert(db, { ...entry, actor: user.id, outcome: 'accepted' })
    return { session, user }
  } catch (error) {
    if (!isAPIError(error) || error.body?.code !== 'BANNED_USER') throw error
    await audit.insert(db, { ...entry, actor: null, outcome: 'refused' })
    // Returned, because an error would roll back the entry.
    return new ProviderProblem('BANNED_USER', 'the account is banned')
  }
}

/** Makes an account, and connects it. */
async function signUp(adapter: Auth['internalAdapter'], { key, email, name }: Identity) {
  const user = await adapter.createUser(
    { email, name, emailVerified: true },
    { method: 'oauth', oauth: { providerId: key.providerId } },
  )
  await adapter.createAccount({ ...key, userId: user.id })
  return user
}

/** Connects the account of the person who began, if the session still exists, and the address is the same. */
async function connect(
  context: Parameters<typeof linkOAuthAccount>[0],
  link: { email: string; userId: string },
  { key, email, name }: Identity,
) {
  const { db } = currentTransaction()
  await lockPerson(db, link.userId)
  const { linked, ...result } = await linkOAuthAccount(context, {
    link,
    userInfo: { email, name, emailVerified: true },
    account: key,
    profile: {},
  })
  if (!linked) {
    const isOther = 'error' in result && result.error.code === 'email_does_not_match'
    throw new ProviderProblem(
      isOther ? 'OTHER_ADDRESS' : 'PROVIDER_FAILED',
      isOther ? 'the provider has another address of the person' : 'the account cannot be connected',
    )
  }
  await audit.insert(db, {
    ...currentAuditSource(),
    actor: link.userId,
    subject: link.userId,
    action: connectionActions.connect,
    outcome: 'accepted',
    detail: key.providerId,
  })
}
