import type { Command } from 'commander'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

import { codeOf } from '../db/errors.ts'

// The working folder is the folder of the project.

/** The entry point `tallystick-dev/commands`. */
interface Development {
  addCommands: (program: Command) => void
  buildProject: () => Promise<void>
}

/** Whether the working folder has the sources or the build of a project. */
export const isProject = () =>
  ['src/app.ts', 'dist/start/cli.js'].some((file) => existsSync(file)) && existsSync('package.json')

/** Returns the development package of the project, or the one beside this package. Undefined in production. */
async function importDevelopment(): Promise<Development | undefined> {
  for (const place of [join(process.cwd(), 'package.json'), import.meta.url])
    try {
      const file = createRequire(place).resolve('tallystick-dev/commands')
      return (await import(pathToFileURL(file).href)) as Development
    } catch (error) {
      if (codeOf(error) !== 'MODULE_NOT_FOUND') throw error
    }
  return undefined
}

/** Builds the project if the development package is installed, and runs a program of the build in this process. */
export async function runProgram(name: 'main' | 'cli') {
  const development = await importDevelopment()
  await development?.buildProject()
  const file = resolve('dist/start', `${name}.js`)
  if (!existsSync(file))
    throw new Error(
      isProject()
        ? 'The project is not built, and the package tallystick-dev is not installed. Run the build where it is installed: npm install && npm run build'
        : `There is no project in ${process.cwd()}. Run the command in the folder of a project.`,
    )
  await import(pathToFileURL(file).href)
}

/** Adds the commands of a project. The commands for development need the development package. */
export async function addProjectCommands(program: Command) {
  program
    .commandsGroup('Run the project, in its folder:')
    .command('start')
    .description('build the project if its build is not up to date, and start the service')
    .action(() => runProgram('main'))
  const development = await importDevelopment()
  if (development) development.addCommands(program)
  else program.showHelpAfterError('The commands for development need the package tallystick-dev: npm install')
}
