import type { Command } from 'commander'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

import { importDevelopment } from '../operator/development.ts'
import { onRunnerExit } from '../start/package-runner.ts'

// The working folder is the folder of the project.

/** Whether the working folder has the sources or the build of a project. */
export const isProject = () =>
  ['src/app.ts', 'dist/start/cli.js'].some((file) => existsSync(file)) && existsSync('package.json')

/**
 * Runs a program of the build in this process. If the development package is installed, builds the project before, which takes a
 * tenth of a second if nothing has changed.
 */
export async function runProgram(name: 'main' | 'cli') {
  const development = await importDevelopment()
  const file = resolve('dist/start', `${name}.js`)
  // If the sources and the built file are missing, `buildProject` says what is missing.
  if (existsSync('src/app.ts') || !existsSync(file)) await development?.buildProject()
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
    .action(() => {
      // `npx` and its shell do not forward signals: after their end, the service would continue without a terminal.
      onRunnerExit(() => process.kill(process.pid, 'SIGTERM'))
      return runProgram('main')
    })
  const development = await importDevelopment()
  if (development) development.addCommands(program)
  else
    program.showHelpAfterError(
      'The commands for development, such as dev, need the sources and the package tallystick-dev (npm install).',
    )
}
