import { oc } from '@orpc/contract'

import type { Meta, RateLimit, Topic } from './meta.ts'

/**
 * Builder of procedures for any caller. The service ignores the credentials of a call to such a procedure.
 *
 * @example
 * publicAccess.route({ method: 'GET', path: '/api/books' }).output(BookList)
 */
export const publicAccess = oc.$meta<Meta>({ access: 'public' })

/**
 * An error that a builder declares. A named type, so that the types of `errors` and of procedures stay short.
 *
 * @example
 * const noBook: Record<'NO_BOOK', DeclaredError> = { NO_BOOK: { status: 404, message: 'There is no such book' } }
 */
export interface DeclaredError {
  status: number
  message: string
}

export const signedInErrors: Record<'UNAUTHORIZED' | 'INSUFFICIENT_SCOPE', DeclaredError> = {
  UNAUTHORIZED: { status: 401, message: 'Sign in first' },
  INSUFFICIENT_SCOPE: { status: 403, message: 'The token was not granted this' },
}

/**
 * Builder of procedures for signed-in callers. Apps receive 403, because the procedures have no scope.
 *
 * @example
 * signedIn.route({ method: 'GET', path: '/api/settings' }).output(Settings)
 */
export const signedIn = publicAccess.meta({ access: 'signedIn' }).errors(signedInErrors)

/**
 * Builder of procedures that only the owner of the account can call. Apps, and administrators during an impersonation,
 * receive 403.
 *
 * @example
 * sensitive.meta({ updates: [] }).route({ method: 'POST', path: '/api/cards' }).input(Card).output(Success)
 */
export const sensitive = signedIn.meta({ noImpersonation: true }).errors({
  FORBIDDEN: { status: 403, message: 'Not permitted during an impersonation' },
})

/**
 * The error of procedures for administrators, for builders other than `administrative`:
 * `creating([booksTopic]).meta({ administratorsOnly: true }).errors(administrativeErrors)`.
 */
export const administrativeErrors: Record<'FORBIDDEN', DeclaredError> = {
  FORBIDDEN: { status: 403, message: 'Only administrators may do this, and not during an impersonation' },
}

/**
 * Builder of procedures that only an administrator in person can call: nobody can impersonate an administrator. For changes, other
 * builders can get the same metadata and errors:
 * `creating([booksTopic]).meta({ administratorsOnly: true }).errors(administrativeErrors)`.
 */
export const administrative = signedIn
  .meta({ noImpersonation: true, administratorsOnly: true })
  .errors(administrativeErrors)

/**
 * Builder of procedures for signed-in callers and for apps with the scope `read`.
 *
 * @example
 * reading.meta({ reads: loansTopic }).route({ method: 'GET', path: '/api/loans' }).output(LoanList)
 */
export const reading = signedIn.meta({ scope: 'read' })

/** Changes of data, by account. */
const writeLimit: RateLimit = { name: 'writes', points: 3000, duration: 60, perAccount: true }

/**
 * Builder of procedures for signed-in callers and for apps with the scope `write`.
 *
 * @example
 * writing.meta({ updates: [loansTopic] }).route({ method: 'POST', path: '/api/loans/return-all' }).output(Success)
 */
export const writing = signedIn.meta({ scope: 'write', rateLimit: writeLimit })

export const idempotencyErrors: Record<'UNDER_WAY' | 'KEY_REUSED', DeclaredError> = {
  UNDER_WAY: {
    status: 409,
    message: 'A request with this Idempotency-Key is still being processed; try again later',
  },
  KEY_REUSED: { status: 422, message: 'This Idempotency-Key was already used for a different request' },
}

/**
 * Builder of procedures that create an item of a resource. Supports `Idempotency-Key`, so that clients can retry.
 *
 * @example
 * creating([loansTopic]).route({ method: 'POST', path: '/api/loans' }).input(CreateLoan).output(Loan)
 */
export const creating = (updates: readonly Topic[]) =>
  writing.meta({ idempotencyKey: true, updates }).errors(idempotencyErrors)

export const ifMatchErrors: Record<'PRECONDITION_FAILED', DeclaredError> = {
  PRECONDITION_FAILED: { status: 412, message: 'The current entity tag does not match If-Match' },
}

/**
 * Builder of procedures that change an item of a resource. Supports `If-Match`, to detect concurrent changes.
 *
 * @example
 * changing([loansTopic]).meta({ action: 'EDIT_LOAN' }).errors({ NOT_FOUND: { status: 404 } }).input(UpdateLoan).output(Loan)
 */
export const changing = (updates: readonly Topic[]) =>
  writing.meta({ ifMatch: true, updates }).errors(ifMatchErrors)

/** Changes of the people with access to items, by account: many invitations could find out which addresses have accounts. */
const sharingLimit: RateLimit = {
  name: 'memberships',
  points: 100,
  duration: 3600,
  perAccount: true,
  inDatabase: true,
}

/**
 * Builder of procedures that change who has access to an item, for `invite` and `exclude` of a resource. Limits the changes of
 * each account, refuses callers who impersonate a person, and supports `If-Match`.
 *
 * @example
 * sharing([projectsTopic]).meta({ action: 'SHARE_PROJECT', audit: 'projects.invite' }).errors(itemErrors).input(Invite).output(Project)
 */
export const sharing = (updates: readonly Topic[]) =>
  changing(updates).meta({ rateLimit: sharingLimit, noImpersonation: true, grantsAccess: true })
