#!/usr/bin/env node
import { isContractProcedure } from '@orpc/contract'
import { Command } from 'commander'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import open from 'open'
import * as openid from 'openid-client'

import { createClient, ORPCError } from '../../contract/client.ts'
import { contract } from '../../contract/index.ts'
import { change, type Kept } from './credentials.ts'
import { addOperatorCommands } from '../operator/commands.ts'
import { toErrorMessage } from './error-message.ts'
import { terminalJson, terminalLine } from './terminal.ts'

/** How long somebody may take to sign in, and how soon before its end a token is renewed, in milliseconds. */
const PATIENCE = 5 * 60_000
const MARGIN = 30_000

/** Every procedure by its name, with what it is for. */
const procedures = Object.entries(contract).flatMap(([resource, members]) =>
  Object.entries(members).flatMap(([name, procedure]: [string, unknown]) =>
    isContractProcedure(procedure)
      ? [{ name: `${resource}.${name}`, summary: procedure['~orpc'].route.summary ?? '' }]
      : [],
  ),
)

const insecure = (origin: string) => {
  const local = new URL(origin).protocol === 'http:'
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- plain http is for this machine, as the address says
  return { execute: local ? [openid.allowInsecureRequests] : [], algorithm: 'oauth2' as const }
}

/** Signs in through the browser, and is answered on this machine (RFC 8252). */
async function login(origin: string, scope: string) {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const redirectUri = callbackOf(server)
    const app = {
      client_name: 'Tallystick command line',
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'none',
    }
    const config = await openid.dynamicClientRegistration(
      new URL(origin),
      app,
      openid.None(),
      insecure(origin),
    )
    const pkceCodeVerifier = openid.randomPKCECodeVerifier()
    const expectedState = openid.randomState()
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope,
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
    })
    process.stderr.write(`Sign in at ${url.href}\n`)
    if (process.env.BROWSER !== 'none') await open(url.href).catch(() => undefined)
    const back = await answerOf(server, redirectUri)
    const tokens = await openid.authorizationCodeGrant(config, back, { pkceCodeVerifier, expectedState })
    const kept = keptOf(config.clientMetadata().client_id, tokens)
    await change((ring) => Promise.resolve((ring[origin] = kept)))
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

function callbackOf(server: Server) {
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/callback`
}

/** Where the browser is sent back to, with the code. */
async function answerOf(server: Server, redirectUri: string) {
  const signal = AbortSignal.timeout(PATIENCE)
  return new Promise<URL>((resolve, reject) => {
    signal.addEventListener('abort', () => {
      reject(new Error('Nobody signed in'))
    })
    server.on('request', (request, response) => {
      const url = new URL(request.url ?? '/', redirectUri)
      if (url.pathname !== '/callback') return response.writeHead(404).end()
      response
        .setHeader('connection', 'close')
        .end('You can close this window, and go back to the command line.\n')
      resolve(url)
    })
  })
}

const keptOf = (clientId: string, tokens: openid.TokenEndpointResponse, before?: Kept): Kept => ({
  clientId,
  accessToken: tokens.access_token,
  refreshToken: tokens.refresh_token ?? before?.refreshToken ?? '',
  expiresAt: Date.now() + (tokens.expires_in ?? 0) * 1000,
})

const reach = (origin: string, { clientId }: Kept) =>
  openid.discovery(new URL(origin), clientId, undefined, openid.None(), insecure(origin))

/** A token that is still good, renewed if need be. */
const token = (origin: string) =>
  change(async (ring) => {
    const kept = ring[origin]
    if (!kept) throw new Error(`Not signed in to ${origin}. Run: tallystick login`)
    if (kept.expiresAt - MARGIN > Date.now()) return kept.accessToken
    const tokens = await openid.refreshTokenGrant(await reach(origin, kept), kept.refreshToken)
    ring[origin] = keptOf(kept.clientId, tokens, kept)
    return tokens.access_token
  })

/** Takes the grant back, and forgets it. */
const logout = (origin: string) =>
  change(async (ring) => {
    const kept = ring[origin]
    if (!kept) return
    ring[origin] = { ...kept, expiresAt: 0 }
    await openid.tokenRevocation(await reach(origin, kept), kept.refreshToken)
    // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- a record by origin
    delete ring[origin]
  })

async function call(origin: string, name: string, input?: string) {
  if (!procedures.some((procedure) => procedure.name === name))
    throw new Error(`There is no procedure ${name}. See: tallystick call --help`)
  const client = createClient(origin, { headers: { authorization: `Bearer ${await token(origin)}` } })
  const found = name.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], client)
  const output = await (found as (input: unknown) => Promise<unknown>)(
    input === undefined ? undefined : JSON.parse(input),
  )
  process.stdout.write(`${terminalJson(output)}\n`)
}

const program = new Command('tallystick')
  .description('Calls a Tallystick service for whoever signs in, or runs one.')
  .option('--at <origin>', 'the service', process.env.TALLYSTICK_ORIGIN ?? 'http://localhost:3000')
  .commandsGroup('Call a service:')
  .helpCommand(true)
const origin = () => new URL(program.opts<{ at: string }>().at).origin

program
  .command('login')
  .description('sign in through the browser (BROWSER=none: only print the address)')
  .option('--scope <scopes>', 'what to be let do', 'read write')
  .action(async ({ scope }: { scope: string }) => {
    await login(origin(), scope)
    process.stderr.write('Signed in.\n')
  })
program
  .command('whoami')
  .description('tell who is signed in')
  .action(() => call(origin(), 'account.get'))
program
  .command('token')
  .description('print a token that is good for some minutes, for scripts')
  .action(async () => {
    process.stdout.write(`${await token(origin())}\n`)
  })
program
  .command('logout')
  .description('end the sign-in, here and at the service')
  .action(() => logout(origin()))
program
  .command('call')
  .description('call a procedure with JSON')
  .argument('<procedure>', 'its name')
  .argument('[input]', 'its input, as JSON')
  .addHelpText(
    'after',
    ['', 'Procedures:', ...procedures.map(({ name, summary }) => `  ${name.padEnd(22)}${summary}`)].join(
      '\n',
    ),
  )
  .action((name: string, input?: string) => call(origin(), name, input))
const print = (line: string) => process.stdout.write(`${terminalLine(line)}\n`)
addOperatorCommands(program, { environment: process.env, print })

try {
  await program.parseAsync()
} catch (error) {
  const problem = error instanceof ORPCError ? terminalJson(error.toJSON()) : toErrorMessage(error)
  process.stderr.write(`${problem}\n`)
  process.exitCode = 1
}
