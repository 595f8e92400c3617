import { Command } from 'commander'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

import { addOperatorCommands } from '../src/operator/commands.ts'
import { createTallystick } from '../src/testing.ts'
import { createDatabase } from './service.ts'

export type Environment = Record<string, string>

/** Runs a command in this process. Returns the printed lines and the message of the error, if any. */
export async function run(environment: Environment, ...words: string[]) {
  const lines: string[] = []
  const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined })
  addOperatorCommands(program, { environment, print: (line) => lines.push(line) })
  const problem = await program.parseAsync(words, { from: 'user' }).then(
    () => undefined,
    (error: unknown) => (error as Error).message,
  )
  return { lines, text: lines.join('\n'), problem }
}

/** Creates settings with an empty data folder. The folder is removed after the test. */
export async function emptyFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'tallystick-operator-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return { DATA_DIR: folder }
}

/** Creates settings with an empty data folder and a migrated PostgreSQL database. Both are removed after the test. */
export async function serverDatabase(template?: string) {
  const { url, drop } = await createDatabase(template)
  onTestFinished(drop)
  return { ...(await emptyFolder()), DATABASE_URL: url }
}

/** Creates settings with an empty data folder and a PostgreSQL database without tables. */
export const emptyServerDatabase = () => serverDatabase('template0')

/** Opens the service in this process, runs `work`, and closes the service. */
export async function withService<Result>(
  environment: Environment,
  work: (service: Awaited<ReturnType<typeof createTallystick>>) => Promise<Result>,
) {
  const service = await createTallystick({ DATABASE_URL: '', ...environment })
  return work(service).finally(() => service.close())
}
