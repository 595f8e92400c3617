import { ORPCError } from '@orpc/server'
import { BodyLimitPlugin, RPCHandler } from '@orpc/server/node'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

import { createPageReader, POLICY } from '../http/endpoints/files.ts'
import { CONSOLE_HOST } from '../settings/console-port.ts'
import { createAccess, refusalOf } from './access.ts'
import { CLOSED_POLICY, closedPage } from './closed-page.ts'
import { createJobs } from './jobs.ts'
import { createOutbox } from './outbox.ts'
import { createPeople, type ServiceParts } from './people.ts'
import { openPort } from './port.ts'
import type { RequestRecorder } from './requests/recorder.ts'
import { createConsoleRouter } from './router.ts'

/** Limits: sizes in bytes, times in milliseconds. A repeated header has a joined value, which is no valid value here. */
const LIMITS = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 2_000,
  joinDuplicateHeaders: true,
}
const MAX_BODY = 1024 * 1024

/** An e-mail has no scripts, no origin of its own and no images from elsewhere, and only the console can frame the e-mail. */
const LETTER_POLICY = [
  "default-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  'sandbox',
  "frame-ancestors 'self'",
].join('; ')

const HEADERS: Record<string, string> = {
  'cache-control': 'no-store',
  // The console shows e-mails in frames.
  'content-security-policy': `${POLICY}; frame-src 'self'`,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

const HTML = 'text/html; charset=utf-8'
const NOTHING = 'Nothing is here'

export interface RunningConsole {
  /** Without the key. A browser with access goes on to the folder of the console. */
  origin: string
  /** Returns the URL that opens the console once. */
  address: () => string
  close: () => void
}

/** Serves the console on a port of its own. Calls `onOpened` after a use of the URL, so that the caller prints the next one. */
export async function serveConsole(
  service: ServiceParts,
  recorder: RequestRecorder,
  onOpened: () => void,
  { isDevelopment = false } = {},
): Promise<RunningConsole> {
  const { settings, log } = service
  const server = createServer(LIMITS)
  // Node otherwise drops the lines after the 2,000th, and with them the headers by which a forwarded request is refused.
  server.maxHeadersCount = 0
  const { port, secret } = await openPort(server, settings.port, isDevelopment)
  const access = createAccess({ secret, port })
  const people = createPeople(service)
  const outbox = createOutbox(settings)
  const jobs = createJobs(service)
  /** The HTML of e-mails by the folder of their addresses. */
  const letters = { outbox: outbox.findHtml, mails: jobs.findMailHtml }
  // A link that signs a person in sets the cookie of the service at `localhost`: all ports of a host share cookies. The console is at
  // 127.0.0.1, so that the service does not receive the cookie of the console.
  const signInHost = `localhost:${port}`
  const signInUrl = (key: string) => `http://${signInHost}/sign-in?key=${key}`
  const router = createConsoleRouter({ ...service, recorder, people, outbox, jobs, signInUrl })
  const rpc = new RPCHandler(router, { plugins: [new BodyLimitPlugin({ maxBodySize: MAX_BODY })] })
  const findFile = createPageReader('console')

  async function answer(request: IncomingMessage, response: ServerResponse) {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value)
    const { method = '', headers, url: target = '' } = request
    const isSignIn = headers.host === signInHost && method === 'GET' && target.startsWith('/sign-in?key=')
    const refusal = refusalOf(request, isSignIn ? signInHost : `${CONSOLE_HOST}:${port}`)
    if (refusal !== undefined) {
      send(response, 403, refusal)
      return
    }
    if (!URL.canParse(target, access.origin)) {
      send(response, 404, NOTHING)
      return
    }
    const { pathname, searchParams } = new URL(target, access.origin)
    const key = searchParams.get('key') ?? ''
    const path = pathname.startsWith(`${access.folder}/`) ? pathname.slice(access.folder.length) : undefined
    if (isSignIn) await signIn(response, key)
    else if (pathname === '/' && key !== '') openConsole(response, key)
    else if (!access.hasCookie(request)) sendClosed(response)
    else if (path === undefined) send(response, 404, NOTHING)
    else if (method === 'POST') await callProcedure(request, response)
    else await sendFile(response, path)
  }

  const sendClosed = (response: ServerResponse) => {
    response.setHeader('content-security-policy', CLOSED_POLICY)
    send(response, 401, closedPage(access.origin), HTML)
  }

  async function signIn(response: ServerResponse, key: string) {
    const person = people.useLink(key)
    if (!person)
      send(response, 410, 'This link has been used, or has expired. Use the button of the console again.')
    else redirect(response, settings.baseUrl, await people.signIn(person))
  }

  function openConsole(response: ServerResponse, key: string) {
    const cookie = access.useKey(key)
    if (cookie === undefined) {
      sendClosed(response)
      return
    }
    redirect(response, `${access.folder}/`, [cookie])
    onOpened()
  }

  async function callProcedure(request: IncomingMessage, response: ServerResponse) {
    const { matched } = await rpc.handle(request, response, {
      prefix: `${access.folder}/rpc`,
      context: {},
    })
    if (!matched) send(response, 404, 'There is no such procedure')
  }

  async function sendFile(response: ServerResponse, path: string) {
    const [, folder, letter = ''] = /^\/(outbox|mails)\/([\da-f-]{36})$/.exec(path) ?? []
    const html = folder === undefined ? undefined : await letters[folder as keyof typeof letters](letter)
    if (html !== undefined) {
      response.setHeader('content-security-policy', LETTER_POLICY)
      response.setHeader('x-frame-options', 'SAMEORIGIN')
      send(response, 200, html, HTML)
      return
    }
    const file = findFile(path === '/' ? 'index.html' : path.replace('/console/', ''))
    if (!file) send(response, 404, path === '/' ? 'The console is not built: run `npm run build`' : NOTHING)
    // The build does not know the folder of the console.
    else if (path === '/')
      send(response, 200, String(await file.load()).replaceAll('"/console/', '"console/'), file.type)
    else send(response, 200, await file.load(), file.type)
  }

  server.on('request', (request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (error instanceof ORPCError) {
        send(response, error.status, error.message)
        return
      }
      log.error({ err: error }, 'the console failed')
      if (response.headersSent) response.destroy()
      else send(response, 500, 'The console failed. The log of the service has the error.')
    })
  })
  return {
    origin: access.origin,
    address: access.address,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

function redirect(response: ServerResponse, location: string, cookies: string[] = []) {
  response.writeHead(303, { location, ...(cookies.length > 0 && { 'set-cookie': cookies }) }).end()
}

function send(
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  type = 'text/plain; charset=utf-8',
) {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body)
}
