import { runWithTransaction } from '@better-auth/core/context'
import type { AuthContext } from 'better-auth'
import { APIError, isAPIError } from 'better-auth/api'
import type { AuditAction } from 'tallystick-contract/internal'
import { z } from 'zod'

import * as audit from '../db/accounts/audit.ts'
import { HasSharedItems } from '../db/accounts/personal-data.ts'
import { hasUnusedCode, findId, lockPerson } from '../db/accounts/users.ts'
import type { Database } from '../db/connection/database.ts'
import { endImpersonations, findOwner } from '../db/accounts/sessions.ts'
import { currentAuditSource, currentImpersonation } from './audit-context.ts'
import { currentTransaction } from './transactions.ts'

interface AuditedEndpoint {
  action: AuditAction
  /**
   * Returns whether the audit trail also records refused calls. For endpoints that anonymous callers can reach, this
   * function must limit the number of entries that such callers can create.
   */
  recordsRefusals: (db: Database, target: Target) => Promise<boolean>
  /** The audit trail records only calls during an impersonation. */
  duringImpersonation?: true
  /** The detail of the entry. By default, the role in the input. */
  detail?: string
}

/**
 * Records every refusal. Only administrators can reach the endpoints that use this function, because
 * engine/http/endpoints/better-auth.ts refuses other callers.
 */
const always = () => Promise.resolve(true)
const never = () => Promise.resolve(false)
/**
 * Records a refused sign-in only while the e-mail address has an unused code. better-auth deletes a code after too many
 * wrong attempts, so each code causes at most four entries.
 */
const whileCodeIsValid = (db: Database, { email = '' }: Target) => hasUnusedCode(db, email)

/** The endpoints of better-auth that the audit trail records. */
const auditedEndpoints: Record<string, AuditedEndpoint> = {
  '/sign-in/email-otp': { action: 'sign-in', recordsRefusals: whileCodeIsValid },
  '/admin/list-users': { action: 'admin.list-users', recordsRefusals: always },
  '/admin/get-user': { action: 'admin.get-user', recordsRefusals: always },
  '/admin/create-user': { action: 'admin.create-user', recordsRefusals: always },
  '/admin/update-user': { action: 'admin.update-user', recordsRefusals: always },
  '/admin/set-role': { action: 'admin.set-role', recordsRefusals: always },
  '/admin/ban-user': { action: 'admin.ban-user', recordsRefusals: always },
  '/admin/unban-user': { action: 'admin.unban-user', recordsRefusals: always },
  '/admin/list-user-sessions': { action: 'admin.list-user-sessions', recordsRefusals: always },
  '/admin/revoke-user-session': { action: 'admin.revoke-user-session', recordsRefusals: always },
  '/admin/revoke-user-sessions': { action: 'admin.revoke-user-sessions', recordsRefusals: always },
  '/admin/impersonate-user': { action: 'impersonation.start', recordsRefusals: always },
  '/admin/stop-impersonating': { action: 'impersonation.stop', recordsRefusals: never },
  '/update-user': {
    action: 'impersonation.change',
    recordsRefusals: never,
    duringImpersonation: true,
    detail: 'update-user',
  },
  '/sign-out': { action: 'impersonation.stop', recordsRefusals: never, duringImpersonation: true },
  '/admin/remove-user': { action: 'admin.remove-user', recordsRefusals: always },
}

/**
 * The input fields that the audit entry uses. `role` is the detail of the entry. All other fields identify the affected
 * person.
 */
const Target = z.object({
  id: z.string().optional(),
  userId: z.string().optional(),
  email: z.string().optional(),
  sessionToken: z.string().optional(),
  role: z.string().optional(),
})
type Target = z.infer<typeof Target>

interface Call {
  context: Pick<AuthContext, 'adapter'>
  query?: object
  body?: object
}

/**
 * Wraps a plugin of better-auth, so that each audited endpoint and its audit entry are committed in one transaction.
 *
 * The Proxies are needed until better-auth can run an endpoint and its hooks in one transaction: the hooks of 1.7.25 run outside
 * the transaction of the endpoint.
 */
export const audited = <Plugin extends { endpoints: object }>(plugin: Plugin): Plugin => ({
  ...plugin,
  endpoints: new Proxy(plugin.endpoints, {
    get(endpoints, name) {
      const endpoint: unknown = Reflect.get(endpoints, name)
      if (typeof endpoint !== 'function' || !('path' in endpoint)) return endpoint
      const rule = auditedEndpoints[String(endpoint.path)]
      if (!rule) return endpoint
      return new Proxy(endpoint, {
        apply(run, self, [call]: [Call]) {
          const work = () => Reflect.apply(run, self, [call]) as Promise<unknown>
          const impersonated = currentImpersonation()
          if (!rule.duringImpersonation) return runAudited(rule, { ...call.query, ...call.body }, call, work)
          return impersonated === undefined ? work() : runAudited(rule, { userId: impersonated }, call, work)
        },
      })
    },
  }),
})

type Result = { value: unknown } | { refusal: unknown }

/**
 * Runs an endpoint and writes its audit entry in one transaction. If the endpoint refuses the call (status below 500),
 * the transaction is committed, because the changes of a refused call must persist: for example, a wrong code consumes
 * an attempt. All other errors roll the transaction back.
 */
async function runAudited(
  { action, recordsRefusals, detail }: AuditedEndpoint,
  input: object,
  call: Call,
  run: () => Promise<unknown>,
) {
  const target = Target.catch({}).parse(input)
  const inTransaction = <Value>(work: () => Promise<Value>) => runWithTransaction(call.context.adapter, work)
  const committed = await inTransaction(async (): Promise<Result> => {
    const { db, overrides } = currentTransaction()
    const isRefusalRecorded = await recordsRefusals(db, target)
    // Looks up the person before and after the call, because a sign-in may create the person. Both lookups run in every
    // case, so that response times do not reveal whether an account exists.
    const before = await subjectOf(db, target)
    await lockPerson(db, before)
    const result = await run().then((value) => ({ value }), toRefusal)
    const after = await subjectOf(db, target)
    const isAccepted = 'value' in result
    // Hooks of better-auth set `overrides` if only the hook knows the person or the outcome.
    const subject = overrides.subject ?? before ?? after
    // Ends impersonations that the person's role no longer permits. Other calls change nothing here.
    if (isAccepted && subject !== null) await endImpersonations(db, subject)
    const source = currentAuditSource()
    // A sign-in request has no authenticated caller. The person is the actor only if the code was correct.
    const actor = action === 'sign-in' ? (isAccepted ? subject : null) : source.actor
    const outcome = overrides.outcome ?? (isAccepted ? 'accepted' : 'refused')
    const entry = {
      ...source,
      actor,
      action,
      outcome,
      detail: detail ?? target.role ?? null,
      subject,
    } as const
    if (outcome === 'accepted' || isRefusalRecorded) await audit.insert(db, entry)
    return result
  }).catch(async (error: unknown): Promise<Result> => {
    if (!(error instanceof HasSharedItems)) throw error
    // Unlike other refusals, rolled back: better-auth ends the sessions of an account before it removes the account.
    await inTransaction(async () => {
      const { db } = currentTransaction()
      const subject = await subjectOf(db, target)
      await audit.insert(db, { ...currentAuditSource(), action, outcome: 'refused', subject })
    })
    return { refusal: new APIError('CONFLICT', { code: 'HAS_SHARED_ITEMS', message: error.message }) }
  })
  if ('refusal' in committed) throw committed.refusal
  return committed.value
}

function toRefusal(error: unknown) {
  if (isAPIError(error) && error.statusCode < 500) return { refusal: error }
  throw error
}

const subjectOf = async (db: Database, { id, userId, email, sessionToken }: Target) =>
  sessionToken === undefined ? findId(db, userId ?? id, email) : findOwner(db, sessionToken)
