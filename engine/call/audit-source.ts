import type { Context } from './context.ts'

/** Maximum stored length of a `User-Agent` header, in characters. */
const MAX_AGENT = 256

/** Returns the actor, IP address and user agent of a request. During an impersonation, the actor is the administrator. */
export const auditSourceOf = ({
  attributes,
  headers,
  ipAddress,
}: Pick<Context, 'attributes' | 'headers' | 'ipAddress'>) => ({
  actor: attributes.actor ?? attributes.person ?? null,
  ipAddress: ipAddress?.() ?? null,
  userAgent: headers['user-agent']?.slice(0, MAX_AGENT) ?? null,
})
