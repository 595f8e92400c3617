import { eq, getTableColumns, sql } from 'drizzle-orm'

import { users } from 'tallystick/internal/db/accounts/users'
import { recordOutputs } from './calls.ts'
import type { AnyCases } from './cases.ts'
import { type Connect, explain, inProcess, type Running } from './running.ts'
import { type Snapshot, takeSnapshot } from './snapshots.ts'
import { keyOfLeaf, leavesOf, valueAt } from './values.ts'

/** A person with a session. */
export interface Person {
  id: string
  email: string
  cookie: string
}

async function signIn(running: Running): Promise<Person> {
  const email = `${crypto.randomUUID()}@example.com`
  const cookie = await running.signIn(email)
  const { id } = await running.client({ cookie }).account.get()
  return { id, email, cookie }
}

/** The rows that `prepare` created for one person. */
interface Prepared {
  fixture: unknown
  text: string
  /** The outputs of all calls of `prepare`, and the fixture. */
  outputs: unknown[]
}

/** The database in which Ada and Bob have rows, and the same database after the deletion of Ada's account. */
export interface World {
  withAda: Snapshot
  withoutAda: Snapshot
  ada: Prepared
  bob: Prepared
  /** When the first restored call can happen, in milliseconds since the Unix epoch: the beginning of a second. */
  start: number
}

/** Two databases with the same people and sessions. In `bobFirst`, `prepare` has run for Bob before Ada, in `adaFirst` after Ada. */
export interface Worlds {
  running: Running
  ada: Person
  bob: Person
  administrator: Person
  bobFirst: World
  adaFirst: World
}

type Prepare = (people: object, text: string) => Promise<unknown>

/**
 * Signs in three people, and runs `prepare` for Ada and for Bob in both orders. A law restores one of the results, and then
 * calls procedures. Restored rows of Bob have the same ids and times with and without Ada, so each difference that Bob observes
 * comes from Ada. The rows of Ada and Bob have different times, also in seconds.
 */
export async function createWorlds(
  running: Running,
  cases: AnyCases,
  waitForTime = waitForSecond,
): Promise<Worlds> {
  const { db } = running.services
  await running.migrated.restore()
  const [ada, bob, administrator] = [await signIn(running), await signIn(running), await signIn(running)]
  await db.update(users).set({ role: 'admin' }).where(eq(users.id, administrator.id))
  const empty = await takeSnapshot(db)

  const prepareFor = async (person: Person, other: Person): Promise<Prepared> => {
    const outputs: unknown[] = []
    const connect = ({ cookie }: Person) => recordOutputs(running.client({ cookie }), outputs)
    const text = `text-${crypto.randomUUID()}`
    // `prepare` creates the rows of `ada`. For the rows of Bob, the two exchange their parts.
    const people = { ada: connect(person), bob: connect(other), administrator: connect(administrator) }
    const fixture = await (cases.prepare as Prepare)(people, text)
    return { fixture, text, outputs: [...outputs, fixture] }
  }
  const createWorld = async (first: Person, second: Person): Promise<Omit<World, 'start'>> => {
    await empty.restore()
    const ofFirst = await prepareFor(first, second)
    await waitForTime()
    const ofSecond = await prepareFor(second, first)
    const [ofAda, ofBob] = first === ada ? [ofFirst, ofSecond] : [ofSecond, ofFirst]
    const withAda = await takeSnapshot(db)
    await deleteAccount(running, ada)
    return { withAda, withoutAda: await takeSnapshot(db), ada: ofAda, bob: ofBob }
  }
  try {
    const worlds = [await createWorld(bob, ada), await createWorld(ada, bob)] as const
    const start = await waitForTime()
    const [bobFirst, adaFirst] = [
      { ...worlds[0], start },
      { ...worlds[1], start },
    ]
    return { running, ada, bob, administrator, bobFirst, adaFirst }
  } catch (error) {
    throw explain(error, running)
  }
}

/** Ends the access of other people to the rows of a person, so that the rows have no new owner, and refuse no deletion. */
export async function endSharing({ app, services: { db } }: Running, { id }: Pick<Person, 'id'>) {
  for (const { rows } of Object.values(app.resources)) {
    const { owner, members } = rows?.visibility ?? {}
    if (!rows || owner === undefined || !members) continue
    const ownerColumn = getTableColumns(rows.table)[owner]
    await db.execute(
      sql`delete from ${members.table} where ${members.item} in (select ${rows.table.id} from ${rows.table} where ${ownerColumn} = ${id})`,
    )
  }
}

/** Deletes the account of a person. If the application refuses the deletion, deletes the row, and all rows that depend on it. */
async function deleteAccount(running: Running, { id, email, cookie }: Person) {
  const { client, services } = running
  await endSharing(running, { id })
  await client({ cookie })
    .account.delete({ email })
    .catch(() => undefined)
  await services.db.delete(users).where(eq(users.id, id))
}

/** Waits for the next second. Returns its beginning, in milliseconds since the Unix epoch. */
export async function waitForSecond() {
  const start = Math.ceil((Date.now() + 1) / 1000) * 1000
  await new Promise((resolve) => setTimeout(resolve, start - Date.now()))
  return start
}

/**
 * Maps values of Bob to values of Ada: two values are counterparts if they are at the same place in the outputs of `prepare`, and
 * differ. The keys are those of `keyOfLeaf`.
 */
export function findCounterparts({ ada, bob }: World): ReadonlyMap<string, readonly unknown[]> {
  const counterparts = new Map<string, unknown[]>()
  for (const { path, value } of leavesOf(bob.outputs)) {
    const counterpart = valueAt(ada.outputs, path)
    // An object or a list has only leaves at longer paths.
    const isLeaf = leavesOf(counterpart).some((leaf) => leaf.path.length === 0)
    if (!isLeaf || typeof counterpart !== typeof value || keyOfLeaf(counterpart) === keyOfLeaf(value))
      continue
    const ofValue = counterparts.get(keyOfLeaf(value)) ?? []
    if (!ofValue.includes(counterpart)) ofValue.push(counterpart)
    counterparts.set(keyOfLeaf(value), ofValue)
  }
  return counterparts
}

/** Shorter values, for example numbers, occur by chance. */
const MIN_SECRET = 16

/** Lists the values by which Ada can be recognized: id, address, text, and the ids of rows that consist of 16 characters or more. */
export function listSecrets({ ada, bobFirst }: Worlds): string[] {
  const values = [...findCounterparts(bobFirst).values()].flat()
  const texts = values.filter((value) => typeof value === 'string' && value.length >= MIN_SECRET) as string[]
  return [ada.id, ada.email, bobFirst.ada.text, ...texts]
}

/** The people of a case, with the rows of Ada. */
export interface Scene {
  running: Running
  connect: Connect
  people: Record<'ada' | 'bob' | 'administrator', ReturnType<Connect>>
  ada: Person
  bob: Person
  administrator: Person
  text: string
  fixture: unknown
  /** Restores the rows again. */
  restore: () => Promise<void>
}

/** Restores the rows of both people, and connects the people over one transport. */
export async function createScene(worlds: Worlds, connect: Connect = inProcess): Promise<Scene> {
  const { running, ada, bob, administrator, bobFirst } = worlds
  await bobFirst.withAda.restore()
  const client = ({ cookie }: Person) => connect(running, { cookie })
  return {
    running,
    connect,
    people: { ada: client(ada), bob: client(bob), administrator: client(administrator) },
    ada,
    bob,
    administrator,
    text: bobFirst.ada.text,
    fixture: bobFirst.ada.fixture,
    restore: bobFirst.withAda.restore,
  }
}

/** The person who can call a procedure with success. */
export const callerOf = (
  { ada, administrator }: Pick<Scene, 'ada' | 'administrator'>,
  meta: { administratorsOnly?: true },
) => (meta.administratorsOnly ? administrator : ada)
