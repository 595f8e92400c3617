import { APIError, createAuthEndpoint, createAuthMiddleware, getSessionFromCtx } from 'better-auth/api'
import { deleteSessionCookie, expireCookie, setSessionCookie } from 'better-auth/cookies'
import { admin } from 'better-auth/plugins'

import { amendAuditEntry } from './transactions.ts'

/** The cookie in which better-auth stores the administrator's session during an impersonation. */
const COOKIE = 'admin_session'

/**
 * Ends an impersonation and restores the administrator's session. Replaces the endpoint of better-auth, because that
 * endpoint responds 500 and keeps the cookies if the administrator's session no longer exists. Needed until better-auth answers
 * 401 and deletes the cookies (1.7.25 does not).
 */
const stopImpersonating = createAuthEndpoint(
  '/admin/stop-impersonating',
  { method: 'POST', requireHeaders: true },
  async (context) => {
    const { internalAdapter, secret, createAuthCookie } = context.context
    const current = await getSessionFromCtx<object, { impersonatedBy?: string | null }>(context)
    if (!current) throw new APIError('UNAUTHORIZED', { message: 'Sign in first' })
    const { userId, impersonatedBy } = current.session
    if (!impersonatedBy) throw new APIError('BAD_REQUEST', { message: 'You are not impersonating anyone' })
    const cookie = createAuthCookie(COOKIE)
    const [token = '', isShort] = ((await context.getSignedCookie(cookie.name, secret)) || '').split(':')
    const administrator = await internalAdapter.findSession(token)
    await internalAdapter.deleteSession(current.session.token)
    // Accepted also if the administrator must sign in again: the impersonation has ended.
    amendAuditEntry({ subject: userId, outcome: 'accepted' })
    deleteSessionCookie(context)
    expireCookie(context, cookie)
    if (administrator?.user.id !== impersonatedBy)
      throw new APIError('UNAUTHORIZED', { message: 'The impersonation has ended. Sign in again' })
    await setSessionCookie(context, administrator, Boolean(isShort))
    return context.json(administrator)
  },
)

/**
 * Deletes the administrator's cookie on sign-out, so that the browser cannot restore the administrator's session later. Needed
 * until sign-out of better-auth does so (1.7.25 does not).
 */
const clearOnSignOut = {
  matcher: ({ path }: { path?: string }) => path === '/sign-out',
  handler: createAuthMiddleware((context) => {
    const cookie = context.context.createAuthCookie(COOKIE)
    if (context.getCookie(cookie.name) !== null) expireCookie(context, cookie)
    return Promise.resolve()
  }),
}

/** Creates the admin plugin of better-auth, with `stopImpersonating` and `clearOnSignOut`. */
export function adminPlugin() {
  const { endpoints, hooks, ...plugin } = admin()
  return {
    ...plugin,
    endpoints: { ...endpoints, stopImpersonating },
    hooks: { after: [...hooks.after, clearOnSignOut] },
  }
}
