import type { Promisable } from '@orpc/shared'
import type { AuditOutcome, Meta } from 'tallystick-contract/internal'

import * as audit from '../db/accounts/audit.ts'
import { findIdByEmail } from '../db/accounts/users.ts'
import { auditSourceOf } from '../call/audit-source.ts'
import type { Caller } from '../call/caller.ts'
import type { CallConnection } from '../call/connection.ts'
import type { Context } from '../call/context.ts'

type Entry = Pick<audit.Entry, 'action' | 'subject' | 'detail'>

/**
 * Returns the entries that the audit trail needs for a change: one if an administrator acts in another person's name, and one if the
 * procedure declares an action (`meta.audit`). The subject of a declared action is null here: the procedure names the person later,
 * by `context.affects`.
 */
export function entriesOf(
  { audit: action }: Meta,
  caller: Caller | undefined,
  operation: string,
  id: unknown,
): Entry[] {
  const impersonated = caller?.session.impersonatedBy ? caller.user.id : undefined
  const detail = typeof id === 'string' || typeof id === 'number' ? String(id) : null
  return [
    ...(impersonated === undefined
      ? []
      : [{ action: 'impersonation.change' as const, subject: impersonated, detail: operation }]),
    ...(action ? [{ action, subject: null, detail }] : []),
  ]
}

/**
 * Runs a change that the audit trail records. The change and its entries are committed in one transaction, so that no such
 * change remains without an entry. A change that does not throw is accepted, unless `outcomeOf` finds a refusal in its result.
 */
export const withAuditEntries = <Result>(
  context: Context,
  entries: readonly Entry[],
  change: (overrides: CallConnection & Pick<Context, 'affects'>) => Promisable<Result>,
  outcomeOf: (result: Result) => AuditOutcome = () => 'accepted',
) =>
  context.transaction(async (connection) => {
    const tx = connection.db
    let affectedAddress = ''
    const result = await change({
      ...connection,
      affects: (address) => {
        affectedAddress = address
      },
    })
    const lacksSubject = entries.some(({ subject }) => subject === null)
    // Without a call of `affects`, the address is empty and finds no account.
    const affectedId = lacksSubject ? await findIdByEmail(tx, affectedAddress) : null
    const source = auditSourceOf(context)
    await audit.insert(
      tx,
      ...entries.map(({ subject, ...entry }) => ({
        ...source,
        ...entry,
        subject: subject ?? affectedId,
        outcome: outcomeOf(result),
      })),
    )
    return result
  })
