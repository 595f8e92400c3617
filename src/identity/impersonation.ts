import { APIError, createAuthEndpoint, createAuthMiddleware, getSessionFromCtx } from 'better-auth/api'
import { deleteSessionCookie, expireCookie, setSessionCookie } from 'better-auth/cookies'
import { admin } from 'better-auth/plugins'

import { note } from '../telemetry/audit.ts'

/** The cookie in which better-auth keeps the administrator's own session during an impersonation. */
const COOKIE = 'admin_session'

/**
 * Ends an impersonation, and gives the administrator's own session back. In place of better-auth's own endpoint, which
 * answers 500, and leaves the cookies as they are, where that session cannot be found.
 */
const stopImpersonating = createAuthEndpoint(
  '/admin/stop-impersonating',
  { method: 'POST', requireHeaders: true },
  async (context) => {
    const { internalAdapter, secret, createAuthCookie } = context.context
    const current = await getSessionFromCtx<object, { impersonatedBy?: string | null }>(context)
    if (!current) throw new APIError('UNAUTHORIZED', { message: 'Sign in first' })
    const { token, userId, impersonatedBy } = current.session
    if (!impersonatedBy) throw new APIError('BAD_REQUEST', { message: 'You are not impersonating anyone' })
    const cookie = createAuthCookie(COOKIE)
    const [own = '', isShort] = ((await context.getSignedCookie(cookie.name, secret)) || '').split(':')
    const administrator = await internalAdapter.findSession(own)
    await internalAdapter.deleteSession(token)
    note({ subject: userId, outcome: 'accepted' })
    deleteSessionCookie(context)
    expireCookie(context, cookie)
    if (administrator?.user.id !== impersonatedBy)
      throw new APIError('UNAUTHORIZED', { message: 'The impersonation has ended. Sign in again' })
    await setSessionCookie(context, administrator, Boolean(isShort))
    return context.json(administrator)
  },
)

/** Whoever signs out during an impersonation leaves no way back to the administrator's session in the browser. */
const clearOnSignOut = {
  matcher: ({ path }: { path?: string }) => path === '/sign-out',
  handler: createAuthMiddleware((context) => {
    const cookie = context.context.createAuthCookie(COOKIE)
    if (context.getCookie(cookie.name) !== null) expireCookie(context, cookie)
    return Promise.resolve()
  }),
}

/** better-auth's administrative area, with impersonations that always end cleanly. */
export function administration() {
  const { endpoints, hooks, ...plugin } = admin()
  return {
    ...plugin,
    endpoints: { ...endpoints, stopImpersonating },
    hooks: { after: [...hooks.after, clearOnSignOut] },
  }
}
