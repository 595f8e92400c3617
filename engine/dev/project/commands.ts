import type { Command } from 'commander'

import type { AddOptions } from '../create/resources/add.ts'
import type { MigrationOptions } from '../create/migration/migration.ts'
import type { DevelopmentOptions } from './dev.ts'

export { buildProject } from './build.ts'
export { listMigrationProblems } from './migration-report.ts'

/** Adds the commands for development, and `new`. Each command imports its modules only when it runs. */
export function addCommands(program: Command) {
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
    .command('add')
    .description('add a resource: contract, table, procedures, test, page view and migration')
    .argument('<name>', 'plural, such as loans or book-loans')
    .option('--singular <name>', 'name of one item (default: the singular, which the command prints)')
    .option('--shared', 'rows that their owner shares: members have a role by their e-mail address')
    .option('--of <resource>', 'rows within rows of another resource, such as projects')
    .option('--no-page', 'without a view of the page')
    .option('--dry-run', 'print the new files, the changes of other files and the table, and change nothing')
    .action(async (name: string, options: AddOptions) => {
      ;(await import('./build.ts')).requireProject()
      print(await (await import('../create/resources/add.ts')).addResource(name, options))
    })
  program
    .command('remove')
    .description('undo `add`: remove the files, the lines in other files and, by a migration, the table')
    .argument('<name>', 'as for `add`')
    .option('--singular <name>', 'name of one item, if `add` got it')
    .option('--force', 'remove files that were changed since, and files that other files import')
    .option('--dry-run', 'print what would be removed, and change nothing')
    .action(async (name: string, options: { singular?: string; force?: true; dryRun?: true }) => {
      ;(await import('./build.ts')).requireProject()
      print(await (await import('../create/resources/remove.ts')).removeResource(name, options))
    })
  program
    .command('migration')
    .description('write the migration for changed tables, and join the migrations of merged branches')
    .option('--name <name>', 'name of the file after its time')
    .option('--custom', 'write a file without statements, for statements by hand')
    .option('--empty', 'write a file without statements, because other migrations have the statements')
    .option('--rename <table.column:name...>', 'rename a column, or a table (table:name), and keep its data')
    .option('--drop <table.column...>', 'drop a column or a table with its data')
    .option('--breaking', 'begin the file with `-- breaking`: earlier releases refuse to start')
    .option('--check', 'change nothing, and fail if a migration is missing')
    .option('--config <file>', 'configuration of drizzle-kit, beside the folder migrations')
    .action(async ({ check, ...options }: MigrationOptions & { check?: true }) => {
      const commands = await import('../create/migration/migration-command.ts')
      print(await (check ? commands.checkMigrations : commands.createMigration)(options))
    })
  program
    .command('pack-client')
    .description('pack the contract with typed clients, for a front end in another repository')
    // `npm --prefix <project> run pack:client` runs in the project: INIT_CWD is the folder of the caller.
    .argument('[folder]', 'folder of the archive (default: the folder in which the command was started)')
    .action(async (folder: string = process.env.INIT_CWD ?? '.') => {
      ;(await import('./build.ts')).requireProject()
      print((await import('../create/client-package.ts')).packClient(folder))
    })
  addNewAndUpgrade(program)
}

const print = (lines: readonly string[]) => process.stdout.write(lines.map((line) => `${line}\n`).join(''))

interface NewOptions {
  name?: string
  bare?: true
}

/** Adds `new`, and `upgrade`, which brings a project to the template of another version. */
export function addNewAndUpgrade(program: Command) {
  program
    .commandsGroup('Create a project:')
    .command('new')
    .description('create a project in a new folder, or in a new repository')
    .argument('<folder>')
    .option('--name <name>', 'name on pages and in e-mails (default: the name of the folder)')
    .option('--bare', 'without the sample resource')
    .action(async (folder: string, options: NewOptions) => {
      ;(await import('../create/index.ts')).createProject({ folder, ...options, print })
    })
  program
    .command('upgrade')
    .description('replace the engine of the project in this folder, and show what else changes')
    .option('--from <clone>', 'built clone of Tallystick with the version to use (default: this command)')
    .option('--apply', 'write the changes of the template to the files of the project')
    .action(async ({ from, apply }: { from?: string; apply?: true }) => {
      ;(await import('./build.ts')).requireProject()
      const { upgradeFrom, upgradeProject } = await import('../create/upgrade/index.ts')
      const succeeded =
        from === undefined
          ? upgradeProject({ isApplied: apply ?? false, print })
          : upgradeFrom(from, apply ? ['--apply'] : [])
      if (!succeeded) process.exitCode = 1
    })
}
