import type { Command } from 'commander'

import type { CommandContext } from './command-context.ts'

/** Adds the commands for operators. Each command imports its modules only when it runs, so that other commands start fast. */
export function addOperatorCommands(program: Command, context: CommandContext) {
  program
    .command('migrate')
    .description('apply pending migrations')
    .option('--check', 'only list pending migrations, and fail if there are any')
    .action(async ({ check }: { check?: true }) => {
      const commands = await import('./migrate.ts')
      await (check ? commands.check(context) : commands.migrate(context))
    })
  program
    .command('reset')
    .description('delete the database of development with all data')
    .option('--database <name>', 'the database of DATABASE_URL, if it is on a server')
    .option('--yes', 'do not ask')
    .action(async (options: { database?: string; yes?: true }) =>
      (await import('./reset.ts')).reset(context, options),
    )
  program
    .command('seed')
    .description('add two sample accounts with data')
    .argument('[email]', 'address of the first sample account', 'ada@example.com')
    .option('--force', 'allow in production')
    .action(async (email: string, options: { force?: true }) =>
      (await import('./seed.ts')).seed(context, email, options),
    )
  program
    .command('openapi')
    .description('print the OpenAPI document')
    .action(async () => (await import('./openapi.ts')).printDocument(context))
  program
    .command('permissions')
    .description('print the actions that each relation to a resource permits')
    .action(async () => (await import('./people/permissions.ts')).printPermissions(context))
  addAdmin(program, context)
  addSessions(program, context)
  program
    .command('audit')
    .description('print the audit trail, newest entry first')
    .option('--person <email>', 'only entries with this person as actor or subject')
    .option('--action <action>', 'only entries of this action, such as sign-in')
    .option('--outcome <outcome>', 'only entries with this outcome: accepted or refused')
    .option('--limit <number>', 'maximum number of entries, 1 to 1000', '100')
    .option('--before <place>', 'only older entries: the value from the last line of the previous output')
    .action((options: object) => runServiceCommand(context, 'audit', options))
  addJobs(program, context)
  program
    .command('backup')
    .description('write a backup of the embedded database to a file, a pipe, or standard output (-)')
    .argument('<file>')
    .action(async (file: string) => (await import('./backup.ts')).backup(context, file))
  program
    .command('restore')
    .description('restore the embedded database from a backup')
    .argument('<file>')
    .option('--force', 'replace an existing database')
    .action(async (file: string, options: { force?: true }) =>
      (await import('./backup.ts')).restore(context, file, options),
    )
  program
    .command('copy')
    .description('copy all data of the embedded database to an empty PostgreSQL server, or back')
    .option('--to <url>', 'copy to this server')
    .option('--from <url>', 'copy from this server to an empty embedded database')
    .action(async (options: { to?: string; from?: string }) =>
      (await import('./copy.ts')).copy(context, options),
    )
  program
    .command('doctor')
    .description('check packages, settings, database, migrations, clock, mail server and data folder')
    .action(async () => (await import('./doctor.ts')).doctor(context))
}

function addAdmin(program: Command, context: CommandContext) {
  const admin = program.command('admin').description('grant, revoke and list the administrator role')
  admin
    .command('grant')
    .description('make an account an administrator')
    .argument('<email>')
    .action((email: string) => runServiceCommand(context, 'admin grant', { email }))
  admin
    .command('revoke')
    .description('remove the administrator role from an account')
    .argument('<email>')
    .action((email: string) => runServiceCommand(context, 'admin revoke', { email }))
  admin
    .command('list')
    .description('list the administrators')
    .action(() => runServiceCommand(context, 'admin list'))
}

function addSessions(program: Command, context: CommandContext) {
  const sessions = program.command('sessions').description('list and end the sessions of an account')
  sessions
    .command('list')
    .description('list the active sessions')
    .argument('<email>')
    .action((email: string) => runServiceCommand(context, 'sessions list', { email }))
  sessions
    .command('revoke')
    .description('end one session, or all sessions')
    .argument('<email>')
    .option('--id <id>', 'end the session with this id')
    .option('--all', 'end all sessions')
    .action((email: string, selection: object) =>
      runServiceCommand(context, 'sessions revoke', { email, ...selection }),
    )
}

function addJobs(program: Command, context: CommandContext) {
  const jobs = program.command('jobs').description('list the jobs of each queue, and run dead jobs again')
  jobs
    .command('list', { isDefault: true })
    .description('count the jobs of each queue, and list the dead jobs, oldest first')
    .option('--queue <name>', 'only this queue')
    .option('--limit <number>', 'maximum number of dead jobs, 1 to 1000', '100')
    .action((options: object) => runServiceCommand(context, 'jobs list', options))
  jobs
    .command('retry')
    .description('run dead jobs again, with all their attempts')
    .option('--id <id>', 'the job with this id')
    .option('--queue <name>', 'all dead jobs of this queue')
    .action((options: object) => runServiceCommand(context, 'jobs retry', options))
}

/** Runs a command in this process, or in the service that uses the embedded database. */
const runServiceCommand = async (context: CommandContext, command: string, input?: object) =>
  (await import('./service-commands.ts')).runServiceCommand(context, command, input)
