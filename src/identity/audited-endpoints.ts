import { runWithTransaction } from '@better-auth/core/context'
import type { AuthContext } from 'better-auth'
import { isAPIError } from 'better-auth/api'
import { z } from 'zod'

import * as audit from '../../db/audit.ts'
import { hasUnusedCode, findId, lockPerson } from '../../db/auth.ts'
import type { Database } from '../../db/database.ts'
import { endImpersonations, findOwner } from '../../db/sessions.ts'
import { currentSource, underWay } from '../telemetry/audit.ts'

interface Recorded {
  action: audit.Action
  /** Whether a refusal is recorded too. Must bound what a stranger can add to the trail. */
  refusals: (db: Database, target: Target) => Promise<boolean>
}

/** For administrators alone. */
const always = () => Promise.resolve(true)
const never = () => Promise.resolve(false)
/** At most four refusals for each letter: then the code is used up. */
const whileCodeIsOut = (db: Database, { email = '' }: Target) => hasUnusedCode(db, email)

/** The endpoints of better-auth that the audit trail records. */
const recorded: Record<string, Recorded> = {
  '/sign-in/email-otp': { action: 'sign-in', refusals: whileCodeIsOut },
  '/admin/list-users': { action: 'admin.list-users', refusals: always },
  '/admin/get-user': { action: 'admin.get-user', refusals: always },
  '/admin/create-user': { action: 'admin.create-user', refusals: always },
  '/admin/update-user': { action: 'admin.update-user', refusals: always },
  '/admin/set-role': { action: 'admin.set-role', refusals: always },
  '/admin/ban-user': { action: 'admin.ban-user', refusals: always },
  '/admin/unban-user': { action: 'admin.unban-user', refusals: always },
  '/admin/list-user-sessions': { action: 'admin.list-user-sessions', refusals: always },
  '/admin/revoke-user-session': { action: 'admin.revoke-user-session', refusals: always },
  '/admin/revoke-user-sessions': { action: 'admin.revoke-user-sessions', refusals: always },
  '/admin/impersonate-user': { action: 'impersonation.start', refusals: always },
  '/admin/stop-impersonating': { action: 'impersonation.stop', refusals: never },
  '/admin/remove-user': { action: 'admin.remove-user', refusals: always },
}

/** The inputs of those endpoints that name a person. */
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

/** Runs the recorded endpoints of a plugin of better-auth, each in one transaction with its entry. */
export const audited = <Plugin extends { endpoints: object }>(plugin: Plugin): Plugin => ({
  ...plugin,
  endpoints: new Proxy(plugin.endpoints, {
    get(endpoints, name) {
      const endpoint: unknown = Reflect.get(endpoints, name)
      if (typeof endpoint !== 'function' || !('path' in endpoint)) return endpoint
      const about = recorded[String(endpoint.path)]
      if (!about) return endpoint
      return new Proxy(endpoint, {
        apply: (run, self, [call]: [Call]) =>
          record(about, call, () => Reflect.apply(run, self, [call]) as Promise<unknown>),
      })
    },
  }),
})

type Ending = { value: unknown } | { refusal: unknown }

/** A refusal is committed, since its changes count (a wrong code uses up a try). Any other error rolls back. */
async function record({ action, refusals }: Recorded, call: Call, run: () => Promise<unknown>) {
  const target = Target.catch({}).parse({ ...call.query, ...call.body })
  const ending = await runWithTransaction(call.context.adapter, async (): Promise<Ending> => {
    const { db, known } = underWay()
    const isKept = await refusals(db, target)
    // Asked before and after, known or not: the time that an answer takes does not tell whether an account exists.
    const before = await subjectOf(db, target)
    await lockPerson(db, before)
    const ending = await run().then((value) => ({ value }), refused)
    const after = await subjectOf(db, target)
    const isAccepted = 'value' in ending
    const subject = known.subject ?? before ?? after
    if (isAccepted && subject !== null) await endImpersonations(db, subject)
    const source = currentSource()
    // A code proves who acts.
    const actor = action === 'sign-in' ? (isAccepted ? subject : null) : source.actor
    const outcome = known.outcome ?? (isAccepted ? 'accepted' : 'refused')
    const entry = {
      ...source,
      actor,
      action,
      outcome,
      detail: target.role ?? null,
      subject,
    } as const
    if (outcome === 'accepted' || isKept) await audit.insert(db, entry)
    return ending
  })
  if ('refusal' in ending) throw ending.refusal
  return ending.value
}

function refused(refusal: unknown) {
  if (isAPIError(refusal) && refusal.statusCode < 500) return { refusal }
  throw refusal
}

const subjectOf = async (db: Database, { id, userId, email, sessionToken }: Target) =>
  sessionToken === undefined ? findId(db, userId ?? id, email) : findOwner(db, sessionToken)
