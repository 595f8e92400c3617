import type { Command } from 'commander'

import type { CommandContext } from './command-context.ts'

/** What whoever runs the service needs. Each loads what it is made of only when it is asked for. */
export function addOperatorCommands(program: Command, shell: CommandContext) {
  program.commandsGroup('Run a service, by the settings in the environment:')
  program
    .command('serve')
    .description('serve until told to stop')
    .action(async () => (await import('../serve.ts')).serve(shell.environment))
  program
    .command('migrate')
    .description('bring the database up to date')
    .option('--check', 'change nothing: name what is missing, and fail if there is any')
    .action(async ({ check }: { check?: true }) => {
      const commands = await import('./migrate.ts')
      await (check ? commands.check(shell) : commands.migrate(shell))
    })
  program
    .command('seed')
    .description('add somebody with tasks and notes, to try things with')
    .argument('[email]', 'who signs in as them', 'ada@example.com')
    .option('--force', 'in production too')
    .action(async (email: string, options: { force?: true }) =>
      (await import('./seed.ts')).seed(shell, email, options),
    )
  program
    .command('openapi')
    .description('print the OpenAPI document')
    .action(async () => (await import('./openapi.ts')).printDocument(shell))
  addAdmin(program, shell)
  addSessions(program, shell)
  program
    .command('audit')
    .description('print the audit trail, newest entry first')
    .option('--person <email>', 'entries in which this person acted or was acted upon')
    .option('--limit <number>', 'how many entries, 1000 at most', '100')
    .option('--before <place>', 'older entries: the place is in the last line of the output before')
    .action(async (options: { person?: string; limit: string; before?: string }) =>
      (await import('./audit.ts')).list(shell, options),
    )
  program
    .command('backup')
    .description('write the embedded database into a file')
    .argument('<file>')
    .action(async (file: string) => (await import('./backup.ts')).backup(shell, file))
  program
    .command('restore')
    .description('read the embedded database from a backup')
    .argument('<file>')
    .option('--force', 'in place of the one that is there')
    .action(async (file: string, options: { force?: true }) =>
      (await import('./backup.ts')).restore(shell, file, options),
    )
  program
    .command('doctor')
    .description('look for what is wrong with settings, database, mail, folder and clock')
    .action(async () => (await import('./doctor.ts')).doctor(shell))
}

function addAdmin(program: Command, shell: CommandContext) {
  const admin = program.command('admin').description('say who is an administrator')
  admin
    .command('grant')
    .description('make somebody one')
    .argument('<email>')
    .action(async (email: string) => (await import('./admin.ts')).grant(shell, email))
  admin
    .command('revoke')
    .description('make somebody one no longer')
    .argument('<email>')
    .action(async (email: string) => (await import('./admin.ts')).revoke(shell, email))
  admin
    .command('list')
    .description('list those who are')
    .action(async () => (await import('./admin.ts')).list(shell))
}

function addSessions(program: Command, shell: CommandContext) {
  const sessions = program.command('sessions').description("see and end somebody's sessions")
  sessions
    .command('list')
    .description('list those that are active')
    .argument('<email>')
    .action(async (email: string) => (await import('./sessions.ts')).list(shell, email))
  sessions
    .command('revoke')
    .description('end one of them, or all')
    .argument('<email>')
    .option('--id <id>', 'the one with this id')
    .option('--all', 'all')
    .action(async (email: string, which: { id?: string; all?: true }) =>
      (await import('./sessions.ts')).revoke(shell, email, which),
    )
}
