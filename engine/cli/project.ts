import type { Command } from 'commander'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

// The working folder is the folder of the project.

/** The entry point `tallystick-dev/commands`. */
interface Development {
  addCommands: (program: Command) => void
  buildProject: () => Promise<void>
}

/** Whether the working folder has the sources or the build of a project. */
export const isProject = () =>
  ['src/app.ts', 'dist/start/cli.js'].some((file) => existsSync(file)) && existsSync('package.json')

/** Returns the development package of the project. Undefined if it is not installed, for example in production. */
async function importDevelopment(): Promise<Development | undefined> {
  const { resolve } = createRequire(join(process.cwd(), 'package.json'))
  try {
    resolve('tallystick-dev/package.json')
  } catch {
    return undefined
  }
  return (await import(pathToFileURL(resolve('tallystick-dev/commands')).href)) as Development
}

/** Builds the project if the development package is installed, and runs a program of the build in this process. */
export async function runProgram(name: 'main' | 'cli') {
  const development = await importDevelopment()
  await development?.buildProject()
  const file = resolve('dist/start', `${name}.js`)
  if (!existsSync(file))
    throw new Error(
      'The project is not built, and the package tallystick-dev is not installed. Run the build where it is installed: npm install && npm run build',
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
