import { eq } from 'drizzle-orm'
import { createTallystick as createLibrary } from 'tallystick-dev/testing'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'

import { users } from '../../db/accounts/users.ts'
import { keyOf } from '../../live/keys.ts'
import { createDatabase, createTallystick, newEmail, startService, watch } from '../fixtures/help-desk.ts'
import { createFetch } from '../fixtures/http.ts'
import { SUBSCRIBER } from '../help-desk/app.ts'
import { type Client, ticketsTopic, writersTopic } from '../help-desk/contract.ts'
import { entries } from '../help-desk/db.ts'
import { app as libraryApp } from '../library/app.ts'

const AUTH_SECRET = 'x'.repeat(40)

const database = await createDatabase()
afterAll(database.drop)
const settings = { DATABASE_URL: database.url, AUTH_SECRET }
const service = await startService(settings)

const call = createFetch(service)

const isStored = async (text: string) =>
  (await service.services.db.$count(entries, eq(entries.text, text))) > 0

/** Without the comparison, only announcements change the states of streams. */
describe.each([
  ['between two instances on a server', () => createTallystick(settings)],
  ['in the embedded database', () => createTallystick({ DATABASE_URL: 'memory:', AUTH_SECRET })],
])('%s', (_, start) => {
  let watching = service as Awaited<ReturnType<typeof createTallystick>>
  let changing = watching
  beforeAll(async () => {
    watching = await start()
    if (watching.services.settings.databaseUrl === 'memory:') changing = watching
  })
  afterAll(() => watching.close())

  test('the tickets of an invited person who signs up later arrive', async () => {
    const ada = newEmail()
    const owner = await changing.person(ada)
    const { id } = await owner.projects.create({ name: 'One' })
    const email = newEmail()
    await owner.projects.invite({ id, email })
    const watched = await watch(await watching.person(ada), { topics: ['tickets'] })
    await watched.waitFor({ titles: [] })

    const invited = await changing.person(email)
    await invited.tickets.create({ projectId: id, title: 'Of the invited person' })

    await watched.waitFor({ titles: ['Of the invited person'] })
  })

  test('a member who gains a project receives its tickets and the later tickets, until the membership ends', async () => {
    const owner = await changing.person()
    const { id } = await owner.projects.create({ name: 'One' })
    await owner.tickets.create({ projectId: id, title: 'First' })
    const email = newEmail()
    const watched = await watch(await watching.person(email), { topics: ['tickets'] })
    await watched.waitFor({ titles: [] })

    await owner.projects.invite({ id, email })
    await watched.waitFor({ titles: ['First'] })
    await owner.tickets.create({ projectId: id, title: 'Second' })
    await watched.waitFor({ titles: ['Second', 'First'] })
    await owner.projects.exclude({ id, email })
    await watched.waitFor({ titles: [] })
  })
})

test('a shelf that is shared with an address arrives', async () => {
  const library = await createLibrary(libraryApp, {}, { compareStates: false })
  onTestFinished(library.close)
  const owner = await library.person()
  const { id } = await owner.shelves.create({ name: 'To read' })
  const email = newEmail()
  const events = await (await library.person(email)).live.watch({ topics: ['shelves'] })
  onTestFinished(async () => {
    await events.return()
  })
  expect((await events.next()).value).toMatchObject({ state: { shelves: [] } })

  await owner.shelves.share({ id, email, role: 'reader' })
  expect((await events.next()).value).toMatchObject({ state: { shelves: [{ name: 'To read' }] } })

  await owner.shelves.rename({ id, name: 'Read' })
  expect((await events.next()).value).toMatchObject({ state: { shelves: [{ name: 'Read' }] } })
})

test('a deleted account announces its data to other members', async () => {
  const owner = await service.person()
  const { id } = await owner.projects.create({ name: 'One' })
  const watched = await watch(owner, { topics: ['tickets'] })
  for (const remove of [removeOwnAccount, removeByAdministrator]) {
    const email = newEmail()
    await owner.projects.invite({ id, email })
    const member = await service.person(email)
    await member.tickets.create({ projectId: id, title: 'Of the member' })
    await watched.waitFor({ titles: ['Of the member'] })

    await remove(member, email)

    await watched.waitFor({ titles: [] })
  }
})

const removeOwnAccount = (member: Client, email: string) => member.account.delete({ email })

async function removeByAdministrator(member: Client) {
  const email = newEmail()
  const cookie = await service.signIn(email)
  await service.services.db.update(users).set({ role: 'admin' }).where(eq(users.email, email))
  const { id: userId } = await member.account.get()
  const answer = await call('POST', '/api/auth/admin/remove-user', { userId }, { cookie })
  expect(answer.status).toBe(200)
}

test('inputs that differ only in types without JSON have different states', async () => {
  const owner = await service.person()
  const { id } = await owner.projects.create({ name: 'One' })
  for (const title of ['a', 'b']) await owner.tickets.create({ projectId: id, title })

  const first = await watch(owner, { topics: ['tickets'], tickets: { titles: new Set(['a']) } })
  const second = await watch(owner, { topics: ['tickets'], tickets: { titles: new Set(['b']) } })

  await first.waitFor({ titles: ['a'] })
  await second.waitFor({ titles: ['b'] })
})

describe('an announcement', () => {
  /** Adds an entry, and returns the announcements to the subscriber. */
  async function announcedBy(outcome: 'success' | 'refusal' | 'rollback' | 'failure', headers = {}) {
    const person = service.client({ cookie: await service.signIn(newEmail()), ...headers })
    const announce = vi.spyOn(service.services.live, 'announce')
    await person.entries.add({ text: 'New', outcome }).catch(() => undefined)
    const { calls } = announce.mock
    announce.mockRestore()
    return calls.filter(([, recipient]) => recipient && 'address' in recipient)
  }
  const announced = [[writersTopic, { address: SUBSCRIBER }]]

  test.each([
    ['is sent after the commit', 'success', announced],
    ['is dropped after a defined error', 'refusal', []],
    ['is dropped after a rollback', 'rollback', []],
    ['is kept after an unexpected error, because the database may have committed', 'failure', announced],
  ] as const)('%s', async (_, outcome, expected) => {
    expect(await announcedBy(outcome)).toEqual(expected)
    expect(await announcedBy(outcome, { 'idempotency-key': crypto.randomUUID() })).toEqual(expected)
  })

  test('of a topic that needs a caller needs a recipient', async () => {
    const person = await service.person()

    await expect(person.entries.add({ text: 'New', outcome: 'nobody' })).rejects.toThrow(
      'An announcement of the topic writers needs a person, an address or a parent',
    )
  })

  test('is sent when other connections see the change', async () => {
    const person = service.client({
      cookie: await service.signIn(newEmail()),
      'idempotency-key': crypto.randomUUID(),
    })
    const text = crypto.randomUUID()
    const { announce } = service.services.live
    const seen: Promise<boolean>[] = []
    const spy = vi.spyOn(service.services.live, 'announce').mockImplementation((...change) => {
      seen.push(isStored(text))
      announce(...change)
    })
    onTestFinished(() => {
      spy.mockRestore()
    })

    await person.entries.add({ text })

    const results = await Promise.all(seen)
    expect(new Set(results)).toEqual(new Set([true]))
  })

  test('has keys of at most 64 bytes, which do not show addresses', () => {
    const topic = { ...ticketsTopic, name: 'x'.repeat(31) }
    const address = `${'a'.repeat(240)}@example.com`
    const keys = [
      keyOf(topic, { person: 'a'.repeat(32) }),
      keyOf(topic, { address }),
      keyOf(topic, { parent: 'a b'.repeat(100) }),
    ]

    expect(new Set(keys).size).toBe(3)
    for (const key of keys) expect(key).toMatch(/^[!-~]{1,64}$/)
    expect(keyOf(topic, { address: address.toUpperCase() })).toBe(keys[1])
  })
})
