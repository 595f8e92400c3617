import { once } from 'node:events'
import postgres from 'postgres'
import { afterAll, describe, inject } from 'vitest'

import { type Client, createClient, createRestClient } from '../contract/client.ts'
import { createApp } from '../src/http/app.ts'
import { createTallystick, type Tallystick } from '../src/testing.ts'
import { databaseUrl, freePort } from './postgres.ts'

/** A service that tests call in process and over HTTP. The service uses its own copy of the template database. */
export interface Service extends Tallystick {
  origin: string
  databaseUrl: string
}

/** Starts a service for one test file. After the last test, stops the service and drops its database. */
export async function startService(environment: Record<string, string> = {}): Promise<Service> {
  const database = await createDatabase()
  const tallystick = await createTallystick({ DATABASE_URL: database.url, ...environment })
  const origin = await listen(tallystick, Number(environment.PORT ?? 0))

  afterAll(async () => {
    await tallystick.close()
    await database.drop()
  })
  return { ...tallystick, origin, databaseUrl: database.url }
}

/** Creates a copy of the template database, or of another database. */
export async function createDatabase(template = inject('postgres').template) {
  const { url } = inject('postgres')
  const name = `tallystick_${process.pid}_${crypto.randomUUID().replaceAll('-', '')}`
  const admin = postgres(url, { max: 1, onnotice: () => undefined })
  await admin`create database ${admin(name)} template ${admin(template)}`
  return {
    url: databaseUrl(url, name),
    drop: async () => {
      await admin`drop database ${admin(name)} with (force)`
      await admin.end()
    },
  }
}

async function listen({ services }: Tallystick, port: number) {
  const server = createApp(services)
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  afterAll(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
}

/**
 * Returns settings with a free port and the matching public origin. A service that issues tokens needs both settings at
 * its start, because the tokens contain the public origin as their issuer.
 */
export async function settingsWithAddress(): Promise<Record<string, string>> {
  const port = String(await freePort())
  return { PORT: port, BASE_URL: `http://127.0.0.1:${port}` }
}

/** Creates a client that uses one transport. The headers contain the credentials. */
export type Transport = (service: Service, headers: Record<string, string>) => Client

const allTransports: Record<string, Transport> = {
  'in process': (service, headers) => service.client(headers),
  'over RPC': ({ origin }, headers) => createClient(origin, { headers }),
  'over REST': ({ origin }, headers) => createRestClient(origin, { headers }),
}

/** All transports, or only the transport in TEST_TRANSPORT, which `npm run test:quick` sets to save time. */
export const transports = Object.fromEntries(
  Object.entries(allTransports).filter(([name]) => name === (process.env.TEST_TRANSPORT ?? name)),
)

export interface Callers {
  /** Signs in, by default with a new address, and returns a client with the session. */
  person: (email?: string, headers?: Record<string, string>) => Promise<Client>
  /** A client without credentials. */
  stranger: Client
  transport: string
}

/** Defines the same tests once for each transport. */
export function describeTransports(service: Service, defineTests: (callers: Callers) => void) {
  describe.each(Object.entries(transports))('%s', (transport, connect) => {
    defineTests({
      transport,
      stranger: connect(service, {}),
      person: async (email = newEmail(), headers = {}) =>
        connect(service, { cookie: await service.signIn(email), ...headers }),
    })
  })
}

export const newEmail = () => `${crypto.randomUUID()}@example.com`

/** Locks a table against every other connection while `work` runs. */
export async function withTableLocked(databaseUrl: string, table: string, work: () => Promise<void>) {
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
