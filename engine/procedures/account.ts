import { implement } from '@orpc/server'
import { auditActions, type EngineContract } from 'tallystick-contract/internal'

import * as query from '../db/accounts/account.ts'
import * as audit from '../db/accounts/audit.ts'
import { HasSharedItems } from '../db/accounts/personal-data.ts'
import { lockPerson } from '../db/accounts/users.ts'
import { signOut } from '../guard/authentication.ts'
import { normalizeAddress } from '../values/mail-address.ts'
import { auditSourceOf } from '../call/audit-source.ts'
import type { Context } from '../call/context.ts'
import { withCaller } from '../guard/index.ts'
import { scopesOf } from './apps.ts'
import { accountNames } from '../texts/engine-texts.ts'
import { toUnixSeconds, toUnixTimes } from '../values/unix-time.ts'
import type { Resource } from '../app/resource.ts'

/** Maximum size of an export, in bytes. At 9 Mbit/s, the transfer takes 15 s (the default of ANSWER_TIMEOUT). */
const MAX_EXPORT_BYTES = 16 * 1024 * 1024

/** The export depends on the resources of the application. */
export function createAccount(contract: EngineContract['account']) {
  const os = implement(contract).$context<Context>().use(withCaller)
  const procedures = os.router({
    get: os.get.handler(({ context: { user } }) => {
      const { id, name, email, emailVerified } = user
      return { id, name, email, emailVerified }
    }),

    export: os.export.handler(async ({ context, errors }) => {
      const { db, user, personalData } = context
      const entry = { ...auditSourceOf(context), action: 'account.export', subject: user.id } as const
      if ((await query.getSize(db, user, personalData)) > MAX_EXPORT_BYTES) {
        await audit.insert(db, { ...entry, outcome: 'refused' })
        throw errors.TOO_LARGE()
      }
      const records = await query.findData(db, user, personalData)
      if (!records) throw errors.UNAUTHORIZED()
      await audit.insert(db, { ...entry, outcome: 'accepted' })
      return { ...accountView(records.account), ...records.resources, ...accessView(records) }
    }),

    delete: os.delete.handler(async ({ context, input, errors }) => {
      const { db, user } = context
      if (normalizeAddress(input.email).toLowerCase() !== user.email) throw errors.WRONG_ADDRESS()
      const entry = { ...auditSourceOf(context), action: 'account.delete', outcome: 'accepted' } as const
      await db
        .transaction(async (tx) => {
          const [person] = await lockPerson(tx, user.id)
          if (!person) throw errors.UNAUTHORIZED()
          await audit.insert(tx, { ...entry, subject: user.id })
          await query.remove(tx, user, context.personalData)
        })
        .catch((error: unknown) => {
          throw error instanceof HasSharedItems
            ? errors.HAS_SHARED_ITEMS({ data: { resources: [...error.resources] } })
            : error
        })
      await signOut(context)
      return { success: true }
    }),
  })
  return {
    description: 'The account of the signed-in person: its data, the export of its data, and its deletion.',
    names: accountNames,
    procedures,
  } satisfies Resource
}

const accountView = ({ id, name, email, emailVerified, role, ...row }: query.AccountData['account']) => ({
  exportedAt: toUnixSeconds(new Date()),
  account: {
    id,
    name,
    email,
    emailVerified,
    role: role ?? 'user',
    ban: row.banned
      ? { reason: row.banReason, expiresAt: row.banExpires && toUnixSeconds(row.banExpires) }
      : null,
    ...toUnixTimes(row),
  },
})

const accessView = ({ account, sessions, audit: entries }: query.AccountData) => ({
  sessions: sessions.filter(({ clientId }) => clientId === null).map(sessionView),
  apps: sessions.flatMap(appView),
  audit: entries.map((entry) => auditView(entry, account.id)),
})

type Session = query.AccountData['sessions'][number]

/** For an impersonation, omits the IP address and the user agent, because both belong to the administrator. */
function sessionView({ id, ipAddress, userAgent, impersonatedBy, ...row }: Session) {
  const byAdministrator = impersonatedBy !== null
  const device = byAdministrator ? {} : { ipAddress, userAgent }
  return {
    id,
    ipAddress: device.ipAddress || null,
    userAgent: device.userAgent || null,
    byAdministrator,
    ...lifetime(row),
  }
}

const appView = ({ id, clientId, userAgent, scope, ...row }: Session) =>
  clientId === null
    ? []
    : [{ id, clientId, name: userAgent ?? '', scopes: scopesOf(scope), ...lifetime(row) }]

/**
 * Replaces ids of accounts with words, for example `self` or `administrator`, because the export must not contain ids
 * of other people.
 */
const auditView = (
  {
    createdAt,
    actor,
    subject,
    action,
    outcome,
    ipAddress,
    userAgent,
    detail,
  }: query.AccountData['audit'][number],
  userId: string,
) => ({
  at: toUnixSeconds(createdAt),
  action,
  outcome,
  actor: actor === userId ? ('self' as const) : actorKind(actor, action),
  subject: subject === userId ? ('self' as const) : subjectKind(subject, action),
  ipAddress,
  userAgent,
  detail,
})

/** Whether the application declares an action (`meta.audit`), for example an invitation. */
const isDeclared = (action: query.AccountData['audit'][number]['action']) =>
  !auditActions.some((builtIn) => builtIn === action)

/** An invitation does not show whether the invited address has an account. */
const subjectKind = (subject: string | null, action: Parameters<typeof isDeclared>[0]) =>
  subject === null || isDeclared(action) ? ('none' as const) : ('other' as const)

/**
 * Returns the kind of an actor other than the owner of the account. Another person is always an administrator, because
 * only administrators act on accounts of other people. Anybody can invite a person.
 */
function actorKind(actor: string | null, action: Parameters<typeof isDeclared>[0]) {
  if (actor === null || isDeclared(action)) return 'unknown' as const
  if (actor === 'operator') return 'operator' as const
  return actor.startsWith('app:') ? ('app' as const) : ('administrator' as const)
}

const lifetime = ({
  createdAt,
  updatedAt,
  expiresAt,
}: Pick<Session, 'createdAt' | 'updatedAt' | 'expiresAt'>) => ({
  lastActive: toUnixSeconds(updatedAt),
  createdAt: toUnixSeconds(createdAt),
  expiresAt: toUnixSeconds(expiresAt),
})
