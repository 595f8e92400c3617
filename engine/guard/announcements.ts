import { ORPCError } from '@orpc/server'
import type { Promisable } from '@orpc/shared'
import type { Topic } from 'tallystick-contract'

import type { Context } from '../call/context.ts'
import { type Announce, type Recipient, requireRecipient } from '../call/live-stream.ts'
import { isRolledBack } from '../db/errors.ts'

/**
 * Collects the announcements of a procedure, which begin with `updates`, and sends the announcements after the procedure
 * has committed. Also sends the announcements after an unexpected error, because the database may have committed before
 * the error. Drops the announcements after another error, or after a rollback.
 */
export async function announceAfter<Output>(
  { announce }: Context,
  updates: readonly Topic[],
  updateRecipients: readonly Recipient[],
  run: (announce: Announce) => Promisable<Output>,
): Promise<Output> {
  const collected = updates.map((topic): Parameters<Announce> => [topic, ...updateRecipients])
  const send = () => {
    for (const change of collected) announce(...change)
  }
  try {
    const output = await run((topic, ...recipients) => {
      requireRecipient(topic, recipients)
      collected.push([topic, ...recipients])
    })
    send()
    return output
  } catch (error) {
    const isUnexpected = error instanceof ORPCError ? error.status >= 500 : !isRolledBack(error)
    if (isUnexpected) send()
    throw error
  }
}
