import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { type BackendUsage, measureBackends } from './backends.ts'
import { INCREMENT, LISTS, MCP, type Operation, operations, type Protocol } from './operations.ts'
import { emailsOf } from './seed.ts'
import { type Server, startPeer, startTallystick } from './servers.ts'
import { authorize, type Mailbox, registerApp, signIn } from './sign-in.ts'

/** The headers of the requests of each caller. */
export type Credentials = Record<Operation['callers'], Record<string, string>[]>

/** A row of the result tables: a server, and the protocol and the credentials of its requests. */
export interface Contender {
  name: string
  server: Server
  protocol: Protocol
  /** Whether this contender takes part in an operation. */
  takesPart: (operation: Operation) => boolean
  /** The URL of the database. Undefined for the embedded database, which has other ids in its responses. */
  database: string | undefined
  credentials: () => Promise<Credentials>
  /** The CPU time of the processes of the database. */
  backends: BackendUsage
}

export const supports = ({ protocol, takesPart }: Contender, operation: Operation) =>
  operation[protocol] !== undefined && takesPart(operation)

export const OURS = 'tallystick'
export const LEAN = 'fastify'
export const onNode20 = (name: string) => `${name} on Node 20`

const READERS = emailsOf(1, 16)
const WRITERS = emailsOf(17, 16)

/** Signs in all callers. Returns the headers with their cookies. */
export async function cookieCredentials({ origin }: Server, mailbox: Mailbox): Promise<Credentials> {
  const cookies = (emails: string[]) =>
    Promise.all(emails.map(async (email) => ({ cookie: await signIn(origin, email, mailbox) })))
  const readers = await cookies(READERS)
  return { anyone: [{}], reader: readers.slice(0, 1), readers, writers: await cookies(WRITERS) }
}

/** Age at which access tokens are replaced, in ms. They expire after 10 minutes. */
const MAX_TOKEN_AGE = 5 * 60_000

/** Returns a function that authorizes an app for each caller, and that renews the access tokens in time. */
async function tokenCredentials({ origin }: Server, cookies: Credentials, resource: string) {
  const clientId = await registerApp(origin)
  const tokens = (callers: Credentials['readers']) =>
    Promise.all(
      callers.map(async ({ cookie = '' }) => ({
        authorization: `Bearer ${await authorize(origin, clientId, cookie, resource)}`,
      })),
    )
  let current: Promise<Credentials> | undefined
  let renewedAt = 0
  const renew = async (): Promise<Credentials> => {
    const readers = await tokens(cookies.readers)
    return { anyone: [{}], reader: readers.slice(0, 1), readers, writers: await tokens(cookies.writers) }
  }
  return () => {
    if (!current || Date.now() - renewedAt > MAX_TOKEN_AGE) {
      renewedAt = Date.now()
      current = renew()
    }
    return current
  }
}

/** The peer for MCP accepts the token of a session as its bearer token. */
const sessionTokens = (cookies: Credentials): Credentials => {
  const toBearer = ({ cookie = '' }: Record<string, string>) => ({
    authorization: `Bearer ${decodeURIComponent(cookie.split('=')[1] ?? '').split('.')[0] ?? ''}`,
  })
  return { ...cookies, readers: cookies.readers.map(toBearer), writers: cookies.writers.map(toBearer) }
}

const always = () => true
const signedIn = ({ callers }: Operation) => callers !== 'anyone'
/** A few operations, for contenders without targets. */
const SAMPLE = ['GET /api/status', 'GET /api/counter', INCREMENT, 'GET /api/tasks', 'POST /api/tasks']
const inSample = ({ name }: Operation) => SAMPLE.includes(name)
const isList = ({ name }: Operation) => LISTS.includes(name)

/**
 * Starts the servers, and signs in at each of them. `databases`: the URLs for Tallystick and for the peers, with the same
 * data. `nodes`: the programs of Node 24 and Node 20. Without `complete`, starts only Tallystick, the lean peer and the
 * MCP SDK.
 */
export async function startContenders(
  databases: { ours: string; peers: string },
  nodes: { 24: string; 20: string },
  mailbox: Mailbox,
  complete: boolean,
) {
  const settings = { DATABASE_URL: databases.ours, SMTP_URL: mailbox.url }
  const contenders: Contender[] = []
  const add = async (
    name: string,
    server: Server,
    database: string | undefined,
    takesPart: Contender['takesPart'] = always,
  ) => {
    const cookies = await cookieCredentials(server, mailbox)
    const credentials = () => Promise.resolve(cookies)
    const backends = measureBackends(database)
    contenders.push({ name, server, database, protocol: 'rest', takesPart, credentials, backends })
    return { server, cookies, credentials, backends }
  }

  const database = databases.ours
  const ours = await add(OURS, await startTallystick(nodes[24], settings), database)
  // Next to Tallystick, because a change of the speed of the machine affects neighbouring slices equally.
  const lean = await add(LEAN, await startPeer('fastify', nodes[24], databases.peers), databases.peers)
  const { server, credentials, backends } = ours
  const { origin } = server
  const bearer = await tokenCredentials(server, ours.cookies, origin)
  const agents = await tokenCredentials(server, ours.cookies, `${origin}/mcp`)
  contenders.push(
    { name: `${OURS} over RPC`, server, database, protocol: 'rpc', takesPart: always, credentials, backends },
    {
      name: `${OURS} with a bearer token`,
      server,
      database,
      protocol: 'rest',
      takesPart: signedIn,
      credentials: bearer,
      backends,
    },
    {
      name: `${OURS} over MCP`,
      server,
      database,
      protocol: 'mcp',
      takesPart: always,
      credentials: agents,
      backends,
    },
    {
      name: 'official MCP SDK',
      server: await startPeer('mcp', nodes[24], databases.peers),
      database: databases.peers,
      protocol: 'mcp',
      takesPart: ({ name }) => name === MCP,
      // The session of another peer is valid, because the peers share one database.
      credentials: () => Promise.resolve(sessionTokens(lean.cookies)),
      backends: lean.backends,
    },
  )
  if (!complete) return contenders
  for (const name of ['fastify-better-auth', 'hono'] as const)
    await add(name, await startPeer(name, nodes[24], databases.peers), databases.peers, isList)
  await add(onNode20(OURS), await startTallystick(nodes[20], settings), database)
  await add(onNode20(LEAN), await startPeer('fastify', nodes[20], databases.peers), databases.peers)
  const development = { ...settings, NODE_ENV: 'development', LOG_LEVEL: 'info' }
  await add(`${OURS} in development`, await startTallystick(nodes[24], development), database, inSample)
  const folder = await mkdtemp(join(tmpdir(), 'tallystick-bench-'))
  const embedded = await startTallystick(nodes[24], { SMTP_URL: mailbox.url, DATA_DIR: folder })
  const { cookies } = await add(`${OURS}, embedded database`, embedded, undefined, inSample)
  await addTasks(embedded, cookies)
  return contenders
}

/** Adds 20 tasks for each reader, because the statements of seed.ts cannot reach the embedded database. */
async function addTasks({ origin }: Server, { readers }: Credentials) {
  const create = operations.find(({ name }) => name === 'POST /api/tasks')?.rest
  for (const headers of readers)
    for (let count = 0; count < 20; count++)
      await fetch(`${origin}/api/tasks`, { ...create, headers: { ...create?.headers, ...headers } })
}
