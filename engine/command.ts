#!/usr/bin/env node
import { Command } from 'commander'

import { addProjectCommands, isProject, runProgram } from './cli/project.ts'
import { toErrorMessage } from './db/errors.ts'

// The command `tallystick` of the package. It has only the commands of `addProjectCommands`. All other commands need the application,
// and run in the build of the project in the working folder.

const program = new Command('tallystick').description(
  'Creates and runs Tallystick projects. In the folder of a project, more commands are available.',
)
await addProjectCommands(program)
if (!isProject())
  program.showHelpAfterError(
    `The other commands, such as doctor, need a project (src/app.ts) or its build (dist/start/cli.js) in the working folder. ${process.cwd()} has neither.`,
  )

const [, , name] = process.argv
const isOwnCommand = program.commands.some((command) => command.name() === name)
try {
  if (isOwnCommand || !isProject()) await program.parseAsync()
  else await runProgram('cli')
} catch (error) {
  process.stderr.write(`${toErrorMessage(error)}\n`)
  process.exitCode = 1
}
