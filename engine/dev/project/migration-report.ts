import { toErrorMessage } from 'tallystick/internal/db/errors'
import { findMigrationProblems, RUN_ADVICE } from '../create/migration/migration.ts'
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
    const problems = await listMigrationProblems()
    // Otherwise a later call describes the changed files.
    if (hash === reported) for (const problem of problems) print(problem)
  }
}

/** Lists what is missing in the migrations of the project, with the command that writes it. */
export async function listMigrationProblems(): Promise<string[]> {
  const problems = await findMigrationProblems().catch((error: unknown) => [toErrorMessage(error)])
  return problems.map((problem) => `${problem}. ${RUN_ADVICE}`)
}
