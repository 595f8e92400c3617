import type { Promisable } from '@orpc/shared'

import * as audit from '../db/audit.ts'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import { auditSourceOf } from '../audit-source.ts'

/**
 * Runs a change during an impersonation. The change and its entry in the audit trail are committed in one transaction,
 * so that no change of an administrator in another person's name remains without an entry.
 */
export const withAuditEntry = <Result>(
  context: Context,
  { user }: Caller,
  operation: string,
  change: (overrides: Pick<Context, 'db'>) => Promisable<Result>,
) =>
  context.db.transaction(async (tx) => {
    const result = await change({ db: tx })
    await audit.insert(tx, {
      ...auditSourceOf(context),
      action: 'impersonation.change',
      outcome: 'accepted',
      subject: user.id,
      detail: operation,
    })
    return result
  })
