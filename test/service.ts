import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import postgres from 'postgres'
import { afterAll, describe, inject } from 'vitest'

import { type Client, createClient, createRestClient } from '../contract/client.ts'
import { createApp } from '../src/http/app.ts'
import { cookieOf, createTallystick, type Tallystick } from '../src/testing.ts'
import { databaseUrl, freePort } from './postgres.ts'

/** A service of one's own: in process and over HTTP at once, on a fresh copy of the template database. */
export interface Service extends Tallystick {
  origin: string
  databaseUrl: string
}

/** Starts a service for one test file, and ends it with the file. */
export async function startService(environment: Record<string, string> = {}): Promise<Service> {
  const { url, template } = inject('postgres')
  const name = `tallystick_${process.pid}_${crypto.randomUUID().replaceAll('-', '')}`
  const admin = postgres(url, { max: 1, onnotice: () => undefined })
  await admin`create database ${admin(name)} template ${admin(template)}`
  const database = databaseUrl(url, name)
  const tallystick = await createTallystick({ DATABASE_URL: database, ...environment })
  const origin = await listen(tallystick, Number(environment.PORT ?? 0))

  afterAll(async () => {
    await tallystick.close()
    await admin`drop database ${admin(name)} with (force)`
    await admin.end()
  })
  return { ...tallystick, origin, databaseUrl: database }
}

async function listen({ parts }: Tallystick, port: number) {
  const server = createApp(parts)
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  afterAll(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
}

/** Settings under which a service knows its own address before it is started, as a token service must. */
export async function addressed(): Promise<Record<string, string>> {
  const port = String(await freePort())
  return { PORT: port, BASE_URL: `http://127.0.0.1:${port}` }
}

/** One way to call the service: who is signed in says the header. */
export type Way = (service: Service, headers: Record<string, string>) => Client

export const ways: Record<string, Way> = {
  'in process': (service, headers) => service.client(headers),
  'over RPC': ({ origin }, headers) => createClient(origin, { headers }),
  'over REST': ({ origin }, headers) => createRestClient(origin, { headers }),
}

export interface Callers {
  /** The client of somebody new, or of whoever has this address. */
  person: (email?: string, headers?: Record<string, string>) => Promise<Client>
  stranger: Client
  way: string
}

/** One body of tests, through every typed client. */
export function everyWay(service: Service, body: (callers: Callers) => void) {
  describe.each(Object.entries(ways))('%s', (way, connect) => {
    body({
      way,
      stranger: connect(service, {}),
      person: async (email = somebody(), headers = {}) =>
        connect(service, { cookie: await service.signIn(email), ...headers }),
    })
  })
}

export const somebody = () => `${crypto.randomUUID()}@example.com`

const json = { 'content-type': 'application/json' }

/** Signs in as a user does: asks for a code over HTTP, reads the letter, answers it. */
export async function signInOverHttp({ origin, letters }: Service, email: string, headers = {}) {
  const post = (path: string, body: object) =>
    fetch(origin + path, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) })
  await post('/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })
  const otp = letters.findLast(({ to }) => to === email)?.subject.slice(0, 6)
  const response = await post('/api/auth/sign-in/email-otp', { email, otp })
  return { cookie: cookieOf(response.headers), response }
}

export interface Answer {
  status: number
  headers: Headers
  body: unknown
}

/** A plain REST call. A body that is no string goes as JSON. */
export function createFetch({ origin }: Pick<Service, 'origin'>) {
  return async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const response = await fetch(origin + path, {
      method,
      headers: { ...(body !== undefined && json), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
  }
}

/** Keeps everybody else from a table while something is done. */
export async function holding(databaseUrl: string, table: string, work: () => Promise<void>) {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => undefined })
  try {
    await sql.begin(async (tx) => {
      await tx`lock table ${tx(table)}`
      await work()
    })
  } finally {
    await sql.end()
  }
}

/** What an app is given for a code or a refresh token. */
export interface Tokens {
  access_token: string
  refresh_token: string
  token_type: string
  expires_in: number
  scope: string
}

type Parameters = Record<string, string | undefined>

export const redirectUri = 'http://127.0.0.1:9/callback'

/** An app that has registered itself, and the steps that it and a person take, as a browser without scripts would. */
export async function registerApp(service: Pick<Service, 'origin'>, registration: object = {}) {
  const call = createFetch(service)
  const asked = { client_name: 'An app', redirect_uris: [redirectUri], ...registration }
  const { body } = await call('POST', '/register', asked)
  return appOf(service, (body as { client_id: string }).client_id)
}

/** The same for an app that is known already. A parameter that is `undefined` is left out. */
export function appOf(service: Pick<Service, 'origin'>, id: string) {
  const call = createFetch(service)
  const verifier = randomBytes(32).toString('base64url')
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  const form = (fields: Parameters) =>
    new URLSearchParams(
      Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ).toString()

  const address = (parameters: Parameters = {}) =>
    `${service.origin}/authorize?${form({
      client_id: id,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'read write',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      ...parameters,
    })}`
  const submit = (fields: Parameters, headers: Record<string, string>, parameters?: Parameters) =>
    fetch(address(parameters), {
      method: 'POST',
      redirect: 'manual',
      headers: { ...type, ...headers },
      body: form(fields),
    })
  /** Where the person is sent when they allow it. */
  const allow = async (cookie: string, parameters?: Parameters) => {
    const { headers } = await submit({ action: 'allow' }, { cookie }, parameters)
    return new URL(headers.get('location') ?? '').searchParams
  }
  const post = (path: string, fields: Parameters) =>
    call('POST', path, form({ client_id: id, ...fields }), type)
  const redeem = (code: string | null, fields: Parameters = {}) =>
    post('/token', {
      grant_type: 'authorization_code',
      code: code ?? '',
      redirect_uri: redirectUri,
      code_verifier: verifier,
      ...fields,
    })
  const refresh = (refresh_token: string, fields: Parameters = {}) =>
    post('/token', { grant_type: 'refresh_token', refresh_token, ...fields })
  const letIn = async (cookie: string, parameters?: Parameters) => {
    const { body } = await redeem((await allow(cookie, parameters)).get('code'))
    return body as Tokens
  }
  return { id, verifier, address, submit, allow, post, redeem, refresh, letIn }
}

export const bearer = ({ access_token }: Tokens) => ({ authorization: `Bearer ${access_token}` })
