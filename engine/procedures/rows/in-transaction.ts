import type { Context } from '../../call/context.ts'
import { markChecksInStatement, statementChecksOf } from '../../guard/permissions.ts'

/**
 * Runs a handler in a transaction, as `context.transaction`: `db` and `enqueue` of the context are of the transaction. An error undoes
 * the statements and the jobs of the handler, and of the function that maps its input.
 *
 * @example
 * create: os.create.handler(
 *   inTransaction(
 *     insert(async ({ context: { db }, input, errors }) => {
 *       if (!(await hasFreeCopy(db, input.bookId))) throw errors.NO_COPY()
 *       return input
 *     }),
 *   ),
 * )
 */
export function inTransaction<Call extends { context: Pick<Context, 'transaction'> }, Output>(
  handler: (call: Call) => Promise<Output>,
): (call: Call) => Promise<Output> {
  const covers = statementChecksOf(handler)
  const run = (call: Call) =>
    call.context.transaction((tx) => handler({ ...call, context: { ...call.context, ...tx } }))
  return covers ? markChecksInStatement(covers, run) : run
}
