import { eq, inArray } from 'drizzle-orm'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRestClient, createRpcClient } from 'tallystick-contract'
import { createTallystick } from 'tallystick-dev/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { remove } from '../db/accounts/account.ts'
import { list } from '../db/accounts/audit.ts'
import { rows, shared } from '../db/rows/index.ts'
import type { OwnerLeaves } from '../db/rows/visibility.ts'
import { users } from '../db/accounts/users.ts'
import { leaveRows } from '../procedures/rows/leaving.ts'
import { bindService, newEmail } from './fixtures/bind-service.ts'
import { createFetch } from './fixtures/http.ts'
import { app } from './tracker/app.ts'
import { type Client, contract } from './tracker/contract.ts'
import { projectMembers, projects, tickets } from './tracker/db.ts'

const { startService } = bindService<Client>({
  createTallystick: (environment) => createTallystick(app, environment),
  createClient: (origin, options) => createRpcClient<typeof contract>(origin, options),
  createRestClient: (origin, options) => createRestClient(contract, origin, options),
})

const ROOT = 'root@example.com'
const databases = { 'a PostgreSQL server': {}, 'the embedded database': { DATABASE_URL: 'memory:' } }

describe.each(Object.entries(databases))('an owner who leaves, on %s', (_, environment) => {
  let service: Awaited<ReturnType<typeof startService>>
  beforeAll(async () => {
    service = await startService({ ...environment, ADMIN_EMAILS: ROOT, RATE_LIMITS: 'off' })
  }, 120_000)
  afterAll(() => service.close())

  const db = () => service.services.db

  async function person(email = newEmail()) {
    const cookie = await service.signIn(email)
    const client = service.client({ cookie })
    return { email, cookie, client, id: (await client.account.get()).id }
  }

  /** A project of Ada with a ticket. Nobody has an account; Bob is a member before Vera. */
  async function team() {
    const [ada, bob, vera] = [await person(), await person(), await person()]
    const { id } = await ada.client.projects.create({ name: 'Bridge' })
    await ada.client.tickets.create({ projectId: id, title: 'Paint' })
    for (const { email } of [{ email: 'nobody@example.com' }, bob, vera])
      await ada.client.projects.invite({ id, email, role: 'viewer' })
    return { ada, bob, vera, id }
  }

  /** Removes an account as the engine does, in an application with another `ownerLeaves`. */
  async function removeWith(ownerLeaves: OwnerLeaves, account: Awaited<ReturnType<typeof person>>) {
    const { leaving } = rows(projects, {
      visible: shared({ members: projectMembers, ownerLeaves }),
      create: ['name'],
    })
    const own = app.resources.projects
    if (!own?.rows) throw new Error('The tracker has no rows of projects')
    const resources = { ...app.resources, projects: { ...own, rows: { ...own.rows, leaving } } }
    const keys: string[] = []
    await remove(db(), account, {
      ...app.personalData,
      leave: async (tx, leaver) => {
        keys.push(...(await leaveRows(resources, tx, leaver)))
        return keys
      },
    })
    return keys
  }

  test('is refused while a row has members, by default', async () => {
    const { ada, bob, vera, id } = await team()
    const { email } = ada

    await expect(ada.client.account.delete({ email })).rejects.toMatchObject({
      defined: true,
      code: 'HAS_SHARED_ITEMS',
      status: 409,
      data: { resources: ['projects'] },
    })
    expect(await bob.client.projects.list()).toMatchObject({ total: 1 })
    expect(await ada.client.account.get()).toMatchObject({ email })

    for (const member of ['nobody@example.com', bob.email, vera.email])
      await ada.client.projects.exclude({ id, email: member })
    expect(await ada.client.account.delete({ email })).toEqual({ success: true })
    expect(await db().select().from(projects).where(eq(projects.id, id))).toEqual([])
  })

  test('is also refused to an administrator who removes the account', async () => {
    const { ada, bob } = await team()
    const root = await person(ROOT)
    const call = createFetch(service)

    const answer = await call(
      'POST',
      '/api/auth/admin/remove-user',
      { userId: ada.id },
      { cookie: root.cookie },
    )

    expect(answer).toMatchObject({ status: 409, body: { code: 'HAS_SHARED_ITEMS' } })
    expect(await ada.client.account.get()).toMatchObject({ id: ada.id })
    expect(await list(db(), { person: ada.id, action: 'admin.remove-user' }, { limit: 2 })).toMatchObject([
      { outcome: 'refused', actor: root.id },
    ])
    expect(await bob.client.projects.list()).toMatchObject({ total: 1 })
  })

  test('deletes the rows with `delete`, and announces it to the members', async () => {
    const { ada, bob, id } = await team()

    const keys = await removeWith('delete', ada)

    expect(keys).toHaveLength(2)
    expect(await db().select().from(projects).where(eq(projects.id, id))).toEqual([])
    expect(await bob.client.projects.list()).toEqual({ projects: [], total: 0 })
  })

  test('hands the rows with `transfer` to the first member with an account', async () => {
    const { ada, bob, vera, id } = await team()
    const [before] = await db().select().from(projects).where(eq(projects.id, id))
    const alone = await ada.client.projects.create({ name: 'Alone' })
    const unreachable = await ada.client.projects.create({ name: 'Unreachable' })
    await ada.client.projects.invite({ id: unreachable.id, email: 'nobody@example.com', role: 'agent' })

    await removeWith('transfer', ada)

    const [after] = await db().select().from(projects).where(eq(projects.id, id))
    expect(after).toEqual({ ...before, userId: bob.id, version: (before?.version ?? 0) + 1 })
    expect(await db().select().from(tickets).where(eq(tickets.projectId, id))).toHaveLength(1)
    expect((await bob.client.projects.members({ id })).members.map(({ email }) => email)).toEqual([
      vera.email,
      'nobody@example.com',
    ])
    expect(await bob.client.projects.update({ id, name: 'Mine now' })).toMatchObject({ mine: true })
    const lost = [alone.id, unreachable.id]
    expect(await db().select().from(projects).where(inArray(projects.id, lost))).toEqual([])
    expect(await db().select().from(users).where(eq(users.id, ada.id))).toEqual([])
  })

  test('does not lose rows if the new owner leaves at the same time', async () => {
    for (const delay of [0, 1, 2, 3]) {
      const { ada, bob, vera, id } = await team()

      const ends = [removeWith('transfer', ada), sleep(delay).then(() => removeWith('transfer', bob))]
      await Promise.all(ends)

      const [row] = await db().select().from(projects).where(eq(projects.id, id))
      expect(row?.userId).toBe(vera.id)
    }
  })

  test('does not leave an accepted invitation without its row', async () => {
    for (const delay of [0, 1, 2, 3]) {
      const ada = await person()
      const { id } = await ada.client.projects.create({ name: 'Bridge' })

      const [invitation, deletion] = await Promise.allSettled([
        ada.client.projects.invite({ id, email: 'nobody@example.com', role: 'viewer' }),
        sleep(delay).then(() => ada.client.account.delete({ email: ada.email })),
      ])

      const found = await db().select().from(projects).where(eq(projects.id, id))
      expect(found).toHaveLength(deletion.status === 'rejected' ? 1 : 0)
      expect(invitation.status === 'fulfilled' && deletion.status === 'fulfilled').toBe(false)
    }
  })

  test('leaves an entry for each invitation and exclusion, which names nobody to the other', async () => {
    const { ada, bob, id } = await team()
    await ada.client.projects.exclude({ id, email: bob.email })

    const entries = (await list(db(), { person: ada.id }, { limit: 10 })).filter(
      ({ detail }) => detail === String(id),
    )
    expect(entries.map(({ action, outcome, subject }) => [action, outcome, subject]).slice(0, 3)).toEqual([
      ['projects.exclude', 'accepted', bob.id],
      ['projects.invite', 'accepted', expect.any(String)],
      ['projects.invite', 'accepted', bob.id],
    ])
    const ofAda = (await ada.client.account.export()).audit.filter(({ action }) =>
      action.startsWith('projects.'),
    )
    expect(new Set(ofAda.map(({ actor, subject }) => `${actor} ${subject}`))).toEqual(new Set(['self none']))
    const ofBob = (await bob.client.account.export()).audit.filter(({ action }) =>
      action.startsWith('projects.'),
    )
    expect(new Set(ofBob.map(({ actor, subject }) => `${actor} ${subject}`))).toEqual(
      new Set(['unknown self']),
    )
  })
})
