import type { Command } from 'commander'

import type { DevelopmentOptions } from './dev.ts'

/** Adds the commands of a project, and `new`. Each command imports its modules only when it runs. */
export function addProjectCommands(program: Command) {
  program.commandsGroup('Develop a project, in its folder:')
  program
    .command('dev')
    .description('start the service, again after each change')
    .option('--inspect [address]', 'let a debugger connect to the service, at a port or at host:port')
    .action(async (options: DevelopmentOptions) => (await import('./dev.ts')).runDevelopment(options))
  program
    .command('build')
    .description('bundle the project to dist/start')
    .action(async () => (await import('./build.ts')).buildProject())
  program
    .command('start')
    .description('build the project if it has changed, and start the service')
    .action(async () => {
      ;(await import('./package-runner.ts')).onRunnerExit(() => process.kill(process.pid, 'SIGTERM'))
      await (await import('./build.ts')).runProgram('main')
    })
  program
    .command('add')
    .description('add a resource: contract, table, procedures, test, page view and migration')
    .argument('<name>', 'plural, such as loans or book-loans')
    .option('--singular <name>', 'name of one item, if the name is no regular plural')
    .option('--no-page', 'without a view of the page')
    .action(async (name: string, options: { singular?: string; page: boolean }) => {
      ;(await import('./build.ts')).requireProject()
      print((await import('../create/add.ts')).addResource(name, options))
    })
  addNewCommand(program)
}

const print = (lines: readonly string[]) => process.stdout.write(lines.map((line) => `${line}\n`).join(''))

interface NewOptions {
  name?: string
  bare?: true
}

export function addNewCommand(program: Command) {
  program
    .command('new')
    .description('create a project in a new or empty folder')
    .argument('<folder>')
    .option('--name <name>', 'name on pages and in e-mails (default: the name of the folder)')
    .option('--bare', 'without the sample resource')
    .action(async (folder: string, options: NewOptions) => {
      const { createProject } = await import('../create/index.ts')
      print(['Packing the engine…'])
      print(createProject({ folder, ...options }))
    })
}
