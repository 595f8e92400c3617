import { toErrorMessage } from '../db/errors.ts'
import type { CommandContext } from './command-context.ts'
import type { Finding } from './finding.ts'

/** The packages that are not part of the bundle (engine/dev/project/bundle.ts). */
const packages: Record<string, () => Promise<unknown>> = {
  '@electric-sql/pglite': () => import('@electric-sql/pglite'),
  'fs-native-extensions': () => import('fs-native-extensions'),
  open: () => import('open'),
}

/** Prints one line for each check. Throws if any check finds a problem. */
export async function doctor(context: CommandContext) {
  const { print } = context
  let problems = 0
  for await (const { subject, fact = '', problem } of examine(context)) {
    if (problem !== undefined) problems++
    print(`${problem === undefined ? 'ok     ' : 'problem'}  ${subject.padEnd(10)}  ${problem ?? fact}`)
  }
  if (problems > 0) throw new Error(`Problems: ${problems}`)
}

async function* examine(context: CommandContext): AsyncGenerator<Finding> {
  const findings = await Promise.all(Object.entries(packages).map(findPackageProblem))
  const problems = findings.filter((problem) => problem !== undefined)
  if (problems.length === 0) {
    yield { subject: 'packages', fact: Object.keys(packages).join(', ') }
    // Imported only now, because the import fails if a package is missing.
    yield* (await import('./examination.ts')).examineService(context)
  } else for (const problem of problems) yield { subject: 'packages', problem }
}

const findPackageProblem = ([name, load]: [string, () => Promise<unknown>]) =>
  load().then(
    () => undefined,
    (error: unknown) => `${name} cannot be loaded: install the packages again. ${toErrorMessage(error)}`,
  )
