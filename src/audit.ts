import { runWithTransaction } from '@better-auth/core/context'
import type { AuthContext } from 'better-auth'
import { isAPIError } from 'better-auth/api'
import { AsyncLocalStorage } from 'node:async_hooks'
import { z } from 'zod'

import * as audit from '../db/audit.ts'
import { hasCode, identify } from '../db/auth.ts'
import type { Database } from '../db/index.ts'
import { endImpersonations, findOwner } from '../db/sessions.ts'
import type { Context } from './access.ts'

/** How much of a User-Agent header is kept, in characters. */
const MAX_AGENT = 256

/** Who acts in a request, and from where. Of an impersonation the actor is the administrator. */
export const sourceOf = ({ seen, headers, address }: Pick<Context, 'seen' | 'headers' | 'address'>) => ({
  actor: seen.actor ?? seen.person ?? null,
  ipAddress: address?.() ?? null,
  userAgent: headers['user-agent']?.slice(0, MAX_AGENT) ?? null,
})

const requests = new AsyncLocalStorage<Context>()

/** Runs work of better-auth or OpenAuth, whose hooks know nothing of the request. */
export const withSource = <Result>(context: Context, work: () => Result) => requests.run(context, work)

const UNKNOWN: audit.Source = { actor: null, ipAddress: null, userAgent: null }

export function currentSource() {
  const context = requests.getStore()
  return context ? sourceOf(context) : UNKNOWN
}

interface Transaction {
  db: Database
  /** What an endpoint or a hook knows better than the request shows. */
  known: Partial<audit.Entry>
}

const transactions = new AsyncLocalStorage<Transaction>()

/** The transaction under way, or else the database. */
export const currentDatabase = (db: Database) => transactions.getStore()?.db ?? db

/** Completes the entry of the transaction under way. */
export const note = (known: Partial<audit.Entry>) =>
  Object.assign(transactions.getStore()?.known ?? {}, known)

/** Implements `transaction` of a better-auth adapter, so that hooks find it by `currentDatabase`. */
export const transactionBy =
  <Adapter>(db: Database, open: (tx: Database) => Adapter) =>
  <Result>(work: (adapter: Adapter) => Promise<Result>) =>
    db.transaction((tx) => transactions.run({ db: tx, known: {} }, () => work(open(tx))))

function underWay() {
  const transaction = transactions.getStore()
  if (!transaction) throw new Error('The adapter of better-auth has no transaction under way')
  return transaction
}

interface Recorded {
  action: audit.Action
  /** Whether a refusal is recorded too. Must bound what a stranger can add to the trail. */
  refusals: (db: Database, target: Target) => Promise<boolean>
}

/** For administrators alone. */
const always = () => Promise.resolve(true)
const never = () => Promise.resolve(false)
/** At most four refusals for each letter: then the code is used up. */
const whileCodeIsOut = (db: Database, { email = '' }: Target) => hasCode(db, email)

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
    const ending = await run().then((value) => ({ value }), refused)
    const after = await subjectOf(db, target)
    const isAccepted = 'value' in ending
    const subject = known.subject ?? before ?? after
    if (isAccepted && subject !== null) await endImpersonations(db, subject)
    const source = currentSource()
    // A code proves who acts.
    const actor = action === 'sign-in' ? (isAccepted ? subject : null) : source.actor
    const outcome = isAccepted ? 'accepted' : 'refused'
    const entry = {
      ...source,
      actor,
      action,
      outcome,
      detail: target.role ?? null,
      ...known,
      subject,
    } as const
    if (isAccepted || isKept) await audit.insert(db, entry)
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
  sessionToken === undefined ? identify(db, userId ?? id, email) : findOwner(db, sessionToken)
