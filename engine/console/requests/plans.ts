import { ORPCError } from '@orpc/server'

import type { Database } from '../../db/connection/database.ts'
import { toErrorMessage } from '../../db/errors.ts'
import { explain } from '../../db/explain.ts'
import type { Plan } from './requests-contract.ts'

/** Maximum length of a plan, in characters. */
const MAX_PLAN = 20_000

/** Returns the plan of the text of a recorded statement. Throws NOT_FOUND without a text. */
export async function explainStatement(db: Database, text: string | undefined): Promise<Plan> {
  if (text === undefined)
    throw new ORPCError('NOT_FOUND', { message: 'The statement is not recorded, or is too long' })
  try {
    const plan = (await explain(db, text)).join('\n')
    return { text: plan.length > MAX_PLAN ? `${plan.slice(0, MAX_PLAN)}…` : plan, reason: null }
  } catch (error) {
    // For example a statement that changes a table, or whose types PostgreSQL cannot determine.
    return { text: '', reason: toErrorMessage(error) }
  }
}
