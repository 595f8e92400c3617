import type { AnyContractRouter } from '@orpc/contract'
import { eq } from 'drizzle-orm'
import { type ClientOf, createRestClient, createRpcClient, type EngineContract } from 'tallystick-contract'

import { users } from '../../db/users.ts'
import type { App } from '../../resource.ts'
import { createTallystick, type Tallystick } from '../index.ts'
import { selectTransports } from '../transports.ts'
import type { AnyCases } from './cases.ts'

/** An application that laws call in process and over HTTP. */
export interface Running extends Omit<Tallystick<ClientOf<EngineContract>>, 'client'> {
  app: App
  client: (headers: Record<string, string>) => ClientOf<EngineContract>
  origin: string
}

export async function start(app: App, environment: Record<string, string> = {}): Promise<Running> {
  const tallystick = await createTallystick(app as App<EngineContract & AnyContractRouter>, environment)
  return { ...tallystick, app, origin: await tallystick.listen() }
}

/** Creates a client that uses one transport. The headers contain the credentials. */
export type Connect = (running: Running, headers: Record<string, string>) => ClientOf<EngineContract>

export const transports = selectTransports<Connect>({
  'in process': ({ client }, headers) => client(headers),
  'over RPC': ({ origin }, headers) => createRpcClient<EngineContract>(origin, { headers }),
  'over REST': ({ app, origin }, headers) =>
    createRestClient(app.contract as EngineContract & AnyContractRouter, origin, { headers }),
})

async function signIn(running: Running, connect: Connect) {
  const email = `${crypto.randomUUID()}@example.com`
  const cookie = await running.signIn(email)
  const client = connect(running, { cookie })
  const { id } = await client.account.get()
  return { client, id, email, cookie }
}

async function signInOthers(running: Running, connect: Connect) {
  const [bob, administrator] = [await signIn(running, connect), await signIn(running, connect)]
  const { db } = running.services
  await db.update(users).set({ role: 'admin' }).where(eq(users.id, administrator.id))
  return { bob, administrator }
}

const others = new WeakMap<Running, Map<Connect, ReturnType<typeof signInOthers>>>()

/** Signs in Bob and the administrator once for each transport, to save time: the laws change no rows of Bob. */
function othersOf(running: Running, connect: Connect) {
  const known = others.get(running) ?? new Map<Connect, ReturnType<typeof signInOthers>>()
  const found = known.get(connect) ?? signInOthers(running, connect)
  others.set(running, known.set(connect, found))
  return found
}

/** The people of a case, with the rows of Ada. */
export type Scene = Awaited<ReturnType<typeof createScene>>

/** Signs in a new person Ada, and creates the rows of Ada. */
export async function createScene(running: Running, connect: Connect, cases: AnyCases) {
  const { bob, administrator } = await othersOf(running, connect)
  const ada = await signIn(running, connect)
  const people = { ada: ada.client, bob: bob.client, administrator: administrator.client }
  const text = `text-${crypto.randomUUID()}`
  // The caller of `laws` sees the types of the cases.
  const prepare = cases.prepare as (given: typeof people, text: string) => Promise<unknown>
  const fixture = await prepare(people, text)
  return { running, connect, people, ada, bob, administrator, text, prepare, fixture }
}

type Person = Scene['ada']

/** Runs the call of the cases for a procedure, with other headers. */
export const runCall = (
  { running, connect, fixture }: Scene,
  cases: AnyCases,
  name: string,
  { cookie }: Person,
  headers: Record<string, string> = {},
) => runCallWith(cases, name, connect(running, { cookie, ...headers }), fixture)

export const runCallWith = (cases: AnyCases, name: string, client: unknown, fixture: unknown) => {
  const call = cases.calls[name] as ((client: unknown, fixture: unknown) => Promise<unknown>) | undefined
  if (!call) throw new Error(`Add a call to \`calls\` for ${name}`)
  return call(client, fixture)
}

/** The person who can call a procedure with success. */
export const callerOf = ({ ada, administrator }: Scene, meta: { administratorsOnly?: true }) =>
  meta.administratorsOnly ? administrator : ada
