import { toErrorMessage } from '../db/errors.ts'
import { findMigrationProblems, RUN } from '../create/migration.ts'
import { hashOf } from './inputs.ts'

/**
 * Creates a function that prints which migrations are missing, with the command that writes them. Without changes in db/ since
 * the last call, the function does nothing.
 */
export function createMigrationReport(print: (line: string) => void) {
  let reported = ''
  return async () => {
    const hash = hashOf(['db'])
    if (hash === reported) return
    reported = hash
    const problems = await findMigrationProblems().catch((error: unknown) => [toErrorMessage(error)])
    // Otherwise a later call describes the changed files.
    if (hash === reported) for (const problem of problems) print(`${problem}. ${RUN}`)
  }
}
