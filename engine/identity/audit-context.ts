import type { Source } from '../db/accounts/audit.ts'
import { auditSourceOf } from '../call/audit-source.ts'
import type { Context } from '../call/context.ts'
import { createStorage, disableStoragesAfter } from './async-storages.ts'

const contexts = createStorage<Context>()

/**
 * Makes the context of a call available to `currentAuditSource`, because better-auth and OpenAuth do not pass the
 * context to the functions that they call.
 */
// Without `disableStoragesAfter`, each later promise of the process would be slower.
export const withAuditContext = <Result>(context: Context, work: () => Promise<Result>) =>
  disableStoragesAfter(() => contexts.run(context, work))

const UNKNOWN: Source = { actor: null, ipAddress: null, userAgent: null }

/** Returns the audit source of the current request. All fields are null outside a request. */
export function currentAuditSource() {
  const context = contexts.getStore()
  return context ? auditSourceOf(context) : UNKNOWN
}

/** Returns the id of the person, if an administrator impersonates a person in the current request. */
export function currentImpersonation() {
  const { actor, person } = contexts.getStore()?.attributes ?? {}
  return actor === undefined ? undefined : person
}

/** Records for the metrics whether a sign-in succeeded. For sign-ins within better-auth, whose outcome no endpoint sees. */
export function recordSignIn(isAccepted: boolean) {
  const context = contexts.getStore()
  if (context) context.attributes.signedIn = isAccepted
}
