import { isContractProcedure } from '@orpc/contract'
import { Command, Option } from 'commander'
import {
  audiences,
  createRpcClient,
  type EngineContract,
  metaOf,
  ORPCError,
  type Scope,
  tokenBounds,
} from 'tallystick-contract/internal'

import type { CommandContext } from '../operator/command-context.ts'
import { addOperatorCommands } from '../operator/commands.ts'
import { codeOf, toErrorMessage } from '../db/errors.ts'
import { loadEnvironmentFiles } from '../settings/environment-files.ts'
import { defaultOrigin } from './origin.ts'
import { addProjectCommands } from './project.ts'
import { terminalJson, terminalLine } from '../values/terminal.ts'
import { watch } from './watch.ts'
import { addWatchOptions, type WatchOptions } from './watch-options.ts'

/** Imports on demand, so that `tallystick doctor` can report a missing package. */
const importSignIn = () => import('./sign-in.ts')

const getAccessToken = async (origin: string) => (await importSignIn()).getAccessToken(origin)

/**
 * The application that a command belongs to.
 *
 * @example
 * const command: CommandApp = { name: 'Library', contract, loadApp: async () => (await import('./app.ts')).app }
 */
export interface CommandApp {
  contract: EngineContract
  /** Imports the application on demand, because calls of a remote service need only the contract. */
  loadApp: CommandContext['loadApp']
  /** The name of the application in texts of the command. */
  name: string
  /** Whether the application is a project of `tallystick new`, which the command builds and starts. */
  isProject?: boolean
  /** Adds commands of the application to the command `tallystick`. */
  addCommands?: (program: Command) => void
}

interface Procedure {
  name: string
  summary: string
}

const listProcedures = (contract: EngineContract): Procedure[] =>
  Object.entries(contract).flatMap(([resource, members]) =>
    Object.entries(members).flatMap(([name, procedure]: [string, unknown]) =>
      isContractProcedure(procedure)
        ? [{ name: `${resource}.${name}`, summary: procedure['~orpc'].route.summary ?? '' }]
        : [],
    ),
  )

async function call(procedures: readonly Procedure[], origin: string, name: string, input?: string) {
  if (!procedures.some((procedure) => procedure.name === name))
    throw new Error(`Unknown procedure ${name}. For a list, run: npx tallystick call --help`)
  const { findAccessToken, notSignedIn } = await importSignIn()
  const token = await findAccessToken(origin)
  const client = createRpcClient(
    origin,
    token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } },
  )
  const procedure = name
    .split('.')
    .reduce<unknown>((member, key) => (member as Record<string, unknown>)[key], client)
  const output = await (procedure as (input: unknown) => Promise<unknown>)(
    input === undefined ? undefined : parseInput(input),
  ).catch((error: unknown) => {
    // Public procedures need no sign-in, so only the answer shows whether one is missing.
    const needsSignIn = token === undefined && error instanceof ORPCError && error.status === 401
    throw needsSignIn ? notSignedIn(origin) : error
  })
  process.stdout.write(`${terminalJson(output)}\n`)
}

function parseInput(input: string): unknown {
  try {
    return JSON.parse(input)
  } catch (error) {
    throw new Error(`The input is not valid JSON: ${toErrorMessage(error)}`, { cause: error })
  }
}

/** Describes an error for the terminal. `origin` is set if the command calls a service. */
function describeError(error: unknown, origin: string | undefined) {
  if (error instanceof ORPCError) return terminalJson(error.toJSON())
  // All network errors of `fetch` have this message. The reason is in the cause.
  if (origin === undefined || !(error instanceof TypeError) || error.message !== 'fetch failed')
    return toErrorMessage(error)
  const reason = codeOf(error) || toErrorMessage(error.cause)
  return `Cannot reach ${origin}: ${reason}. Choose another service with --at <origin> or TALLYSTICK_ORIGIN.`
}

interface TokenOptions {
  label: string
  scope: string
  for: (typeof audiences)[number]
  days: string
}

/**
 * Runs the command with the arguments of the process. Prints an error, and sets the exit code.
 *
 * @example
 * await runCommand({ name: 'Library', contract, loadApp: async () => (await import('./app.ts')).app })
 */
export async function runCommand({ name, contract, loadApp, isProject, addCommands }: CommandApp) {
  // The reader of the output can end first, for example in `tallystick openapi | head`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
  loadEnvironmentFiles()
  const procedures = listProcedures(contract)
  const { watches: topics = [] } = metaOf(contract.live.watch)
  const program = new Command('tallystick')
    .description(`Calls a ${name} service on behalf of a signed-in user, or runs a service.`)
    .option('--at <origin>', 'origin of the service to call', defaultOrigin())
    .commandsGroup('Call a service:')
    .helpCommand(true) // puts the command `help` into this group
  /** The origin that the command has read, for the description of an error. Undefined for commands that call no service. */
  let calledOrigin: string | undefined
  /** Reads the option `--at`. Commander knows the options only when the action of a command runs. */
  const readOrigin = () => {
    const { at } = program.opts<{ at: string }>()
    if (!/^https?:\/\/[^/]/.test(at))
      throw new Error(`--at ${at}: must be an origin such as http://localhost:3000`)
    calledOrigin = new URL(at).origin
    return calledOrigin
  }

  program
    .command('login')
    .description('sign in through the browser (with BROWSER=none, only print the URL)')
    .option('--scope <scopes>', 'permissions to request, separated by spaces', 'read write')
    .option('--device', 'sign in on another device, if this machine has no browser')
    .action(async ({ scope, device }: { scope: string; device?: true }) => {
      const { login, loginFromDevice } = await importSignIn()
      await (device ? loginFromDevice : login)(readOrigin(), scope, `${name} command line`)
      process.stderr.write('Signed in.\n')
    })
  program
    .command('whoami')
    .description('print the signed-in account')
    .action(() => call(procedures, readOrigin(), 'account.get'))
  program
    .command('token')
    .description('print an access token for scripts, valid for some minutes')
    .action(async () => {
      process.stdout.write(`${await getAccessToken(readOrigin())}\n`)
    })
  program
    .command('create-token')
    .description(
      'sign in with a code by e-mail, create a token for a script or an agent, and print the token',
    )
    .requiredOption('--label <text>', 'shown in the list of tokens')
    .option('--scope <scopes>', 'permissions of the token, separated by spaces', 'read')
    .addOption(
      new Option('--for <audience>', 'the REST and RPC interfaces, or the endpoint for agents')
        .choices(audiences)
        .default('service'),
    )
    .option('--days <number>', `lifetime, at most ${tokenBounds.maxDays}`, String(tokenBounds.defaultDays))
    .action(async ({ label, scope, for: audience, days }: TokenOptions) => {
      const { createToken } = await import('./create-token.ts')
      const scopes = scope.split(' ') as Scope[]
      process.stdout.write(
        `${await createToken(readOrigin(), { label, scopes, audience, days: Number(days) })}\n`,
      )
    })
  program
    .command('logout')
    .description('revoke the tokens at the service, and delete them here')
    .action(async () => (await importSignIn()).logout(readOrigin()))
  program
    .command('call')
    .description('call a procedure, and print its output as JSON')
    .argument('<procedure>', `name, such as ${procedures[0]?.name}`)
    .argument('[input]', 'input of the procedure, as JSON')
    .addHelpText(
      'after',
      ['', 'Procedures:', ...procedures.map(({ name, summary }) => `  ${name.padEnd(22)}${summary}`)].join(
        '\n',
      ),
    )
    .action((name: string, input?: string) => call(procedures, readOrigin(), name, input))
  const watchCommand = program
    .command('watch')
    .description('print the current state of topics, and each new state, as lines of JSON')
    .argument('<topics...>', topics.map(({ name }) => name).join(', '))
  const readInputs = addWatchOptions(watchCommand, topics)
  watchCommand.action((names: string[], options: WatchOptions) => {
    const needsToken = topics.some(({ name, access }) => access === 'signedIn' && names.includes(name))
    const getToken = needsToken ? () => getAccessToken(readOrigin()) : undefined
    return watch(readOrigin(), { topics: names, ...readInputs(options) }, getToken)
  })
  const print = (line: string) => process.stdout.write(`${terminalLine(line)}\n`)
  program
    .commandsGroup('Run a service, configured by environment variables:')
    .command('serve')
    .description('start the service, and run until SIGTERM or SIGINT')
    .action(async () => (await import('../start/serve.ts')).serve(await loadApp(), process.env))
  addOperatorCommands(program, { loadApp, environment: process.env, print })
  if (isProject) await addProjectCommands(program)
  addCommands?.(program)

  try {
    await program.parseAsync()
  } catch (error) {
    process.stderr.write(`${describeError(error, calledOrigin)}\n`)
    process.exitCode = 1
  }
}
