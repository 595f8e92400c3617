import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'

import { createApp } from '../engine/http/server/app.ts'
import { createTallystick } from '../src/testing.ts'

// Runs the conformance suite of MCP. The suite sends no access token, so a proxy adds a token to each request.
const [port, proxyPort] = [await freePort(), await freePort()]
const origin = `http://127.0.0.1:${port}`
const tallystick = await createTallystick({
  PORT: String(port),
  BASE_URL: origin,
})
const app = createApp(tallystick.services)
await listen(app, port)
const bearer = `Bearer ${await authorizeApp()}`

const proxy = createServer((incoming, answer) => {
  const { url, method, headers } = incoming
  const outgoing = request(
    origin + (url ?? ''),
    { method, headers: { ...headers, authorization: bearer } },
    (given) => {
      answer.writeHead(given.statusCode ?? 502, given.headers)
      given.pipe(answer)
    },
  )
  incoming.pipe(outgoing)
})
await listen(proxy, proxyPort)

const url = `http://127.0.0.1:${proxyPort}/mcp`
const [command = '', inspector = ''] = process.argv.slice(2)
const options = ['--suite', 'all', '--expected-failures', 'test/conformance.yml']
for (const revision of ['2025-06-18', '2025-11-25', '2026-07-28']) {
  const child = spawn(command, ['server', '--url', url, '--spec-version', revision, ...options], {
    stdio: 'inherit',
  })
  await recordExitCode(child)
}
await authorization()
await inspect(['--strict', '--method', 'tools/list'])
await inspect(['--method', 'tools/call', '--tool-name', 'tasks_create', '--tool-arg', 'taskTitle=Inspected'])
for (const server of [proxy, app]) server.close().closeAllConnections()
await tallystick.close()

/**
 * Runs the conformance suite for authorization servers. The suite prints an authorization URL and expects that a person
 * opens this URL in a browser and consents. This function consents instead of a person.
 */
async function authorization() {
  const callbackPort = String(await freePort())
  const clientId = await register(`http://127.0.0.1:${callbackPort}/callback`)
  const known = ['--client-id', clientId, '--resource', `${origin}/mcp`, '--port', callbackPort]
  const child = spawn(command, ['authorization', '--url', origin, ...known], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.stdout.pipe(process.stdout)
  let text = ''
  child.stdout.on('data', (chunk) => {
    text += String(chunk)
    const [address] = /^http\S+\/authorize\S+(?=\n)/m.exec(text) ?? []
    if (address === undefined || !text.includes('Callback server started')) return
    text = ''
    void consent(address).then((location) => fetch(location))
  })
  await recordExitCode(child)
}

/** Runs the command line of the MCP Inspector against the service. */
async function inspect(words: string[]) {
  const header = ['--header', `Authorization: ${bearer}`]
  const child = spawn(inspector, ['--cli', `${origin}/mcp`, '--transport', 'http', ...header, ...words], {
    stdio: 'inherit',
  })
  await recordExitCode(child)
}

async function recordExitCode(child: ChildProcess) {
  const [code] = (await once(child, 'exit')) as [number | null]
  process.exitCode = Math.max(Number(process.exitCode ?? 0), code ?? 1)
}

async function register(redirectUri: string) {
  const response = await fetch(`${origin}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [redirectUri] }),
  })
  return ((await response.json()) as { client_id: string }).client_id
}

/** Signs in, and consents at an authorization URL. Returns the URL of the redirect. */
async function consent(address: string) {
  const response = await fetch(address, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: await tallystick.signIn('ada@example.com') },
    body: new URLSearchParams({ action: 'allow' }),
  })
  return response.headers.get('location') ?? ''
}

/** Registers and authorizes an app. Returns its access token. */
async function authorizeApp() {
  const redirect_uri = 'http://127.0.0.1:9/callback'
  const client_id = await register(redirect_uri)
  const code_verifier = randomBytes(32).toString('base64url')
  const query = new URLSearchParams({
    response_type: 'code',
    client_id,
    redirect_uri,
    scope: 'read write',
    resource: `${origin}/mcp`,
    code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  const back = new URL(await consent(`${origin}/authorize?${query.toString()}`))
  const code = back.searchParams.get('code') ?? ''
  const grant = { grant_type: 'authorization_code', client_id, redirect_uri, code, code_verifier }
  const tokens = await fetch(`${origin}/token`, { method: 'POST', body: new URLSearchParams(grant) })
  return ((await tokens.json()) as { access_token: string }).access_token
}

async function listen(server: Server, port: number) {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
}

async function freePort() {
  const server = createServer()
  await listen(server, 0)
  const address = server.address()
  server.close()
  return typeof address === 'object' && address ? address.port : 0
}
