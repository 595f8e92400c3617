#!/usr/bin/env node
import { Command } from 'commander'

import { toErrorMessage } from './db/errors.ts'
import { isBuilt, isProject, runProgram } from './project/build.ts'
import { addProjectCommands } from './project/commands.ts'

// The command `tallystick` of the package. Other commands than those of addProjectCommands belong to the project in the
// working folder. The bundle of the project contains the application, and needs no sources.

const program = new Command('tallystick').description(
  'Creates and runs Tallystick projects. In the folder of a project, more commands are available.',
)
addProjectCommands(program)
program.showHelpAfterError(
  `The other commands, such as doctor, need a project (src/app.ts) or its build (dist/start/cli.js) in the working folder. ${process.cwd()} has neither.`,
)

const [, , name] = process.argv
const isOwn = program.commands.some((command) => command.name() === name)
try {
  if (!isOwn && (isProject() || isBuilt())) await runProgram('cli')
  else await program.parseAsync()
} catch (error) {
  process.stderr.write(`${toErrorMessage(error)}\n`)
  process.exitCode = 1
}
