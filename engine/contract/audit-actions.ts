// Without imports, so that the bundle of a page that uses only these values contains no schemas.

/** The actions with entries in the audit trail. */
export const auditActions = [
  'sign-in',
  'session.revoke',
  'grant.create',
  'grant.revoke',
  'account.export',
  'account.delete',
  'impersonation.start',
  'impersonation.stop',
  'impersonation.change',
  'admin.list-audit',
  'admin.list-users',
  'admin.get-user',
  'admin.create-user',
  'admin.update-user',
  'admin.set-role',
  'admin.ban-user',
  'admin.unban-user',
  'admin.list-user-sessions',
  'admin.revoke-user-session',
  'admin.revoke-user-sessions',
  'admin.remove-user',
] as const
export type AuditAction = (typeof auditActions)[number]

/** The name of an action that a procedure of an application declares (`meta.audit`). */
export type DeclaredAction = `${string}.${string}`

export const auditOutcomes = ['accepted', 'refused'] as const
export type AuditOutcome = (typeof auditOutcomes)[number]
