import { eq } from 'drizzle-orm'
import { createTallystick } from 'tallystick-dev/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { emailOf, nameOf, users } from '../db/accounts/users.ts'
import { app } from './tracker/app.ts'
import type { Client } from './tracker/contract.ts'

type Service = Awaited<ReturnType<typeof createTallystick<typeof app.contract, typeof app.router>>>

const databases = { 'a PostgreSQL server': {}, 'the embedded database': { DATABASE_URL: 'memory:' } }

describe.each(Object.entries(databases))('rows on %s', (_, environment) => {
  let service: Service

  beforeAll(async () => {
    service = await createTallystick(app, environment)
  }, 120_000)
  afterAll(() => service.close())

  let count = 0
  /** Signs in a new person. */
  async function person() {
    const email = `person${++count}@example.com`
    const cookie = await service.signIn(email)
    return { email, cookie, client: service.client({ cookie }) }
  }

  /** A project of Ada, which Bob sees as an agent and Vera as a viewer. Eve is a stranger. */
  async function team() {
    const [ada, bob, vera, eve] = [await person(), await person(), await person(), await person()]
    const { id } = await ada.client.projects.create({ name: 'Bridge' })
    await ada.client.projects.invite({ id, email: bob.email.toUpperCase(), role: 'agent' })
    await ada.client.projects.invite({ id, email: vera.email, role: 'viewer' })
    return {
      ada: ada.client,
      bob: bob.client,
      vera: vera.client,
      eve: eve.client,
      bobEmail: bob.email,
      eveCookie: eve.cookie,
      id,
    }
  }

  describe('rows that people share', () => {
    test('are in the lists of the owner and of the members, with what each may do', async () => {
      const { ada, bob, vera, eve, id } = await team()

      const can = (EDIT: boolean, CREATE: boolean) => ({
        VIEW_PROJECT: true,
        EDIT_PROJECT: EDIT,
        CREATE_TICKET: CREATE,
        SHARE_PROJECT: EDIT,
      })
      const project = { id, name: 'Bridge' }
      const listOf = (client: Client) => client.projects.list()
      expect(await listOf(ada)).toEqual({
        projects: [{ ...project, mine: true, can: can(true, true) }],
        total: 1,
      })
      expect(await listOf(bob)).toEqual({
        projects: [{ ...project, mine: false, can: can(false, true) }],
        total: 1,
      })
      expect(await listOf(vera)).toEqual({
        projects: [{ ...project, mine: false, can: can(false, false) }],
        total: 1,
      })
      expect(await listOf(eve)).toEqual({ projects: [], total: 0 })
    })

    test('are read and changed as the relation permits', async () => {
      const { ada, bob, eve, id } = await team()

      expect(await ada.projects.update({ id, name: 'Tower' })).toMatchObject({ name: 'Tower' })
      expect(await bob.projects.get({ id })).toMatchObject({ name: 'Tower', mine: false })
      await expect(bob.projects.update({ id, name: 'Mine' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
      await expect(bob.projects.delete({ id })).rejects.toMatchObject({ code: 'FORBIDDEN' })
      await expect(eve.projects.get({ id })).rejects.toMatchObject({
        code: 'NOT_FOUND',
        message: 'There is no such item',
      })
      await expect(eve.projects.update({ id, name: '' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await expect(bob.projects.update({ id, name: '' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
      await expect(ada.projects.update({ id, name: '' })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    })

    test('show the names of members, where `names` is declared', async () => {
      const { ada, bobEmail, id } = await team()
      await ada.projects.invite({ id, email: 'nobody@example.com', role: 'viewer' })
      const { db } = service.services
      await db.update(users).set({ name: 'Bob' }).where(eq(users.email, bobEmail))

      const { members } = await ada.projects.members({ id })

      expect(members.map(({ name }) => name)).toEqual(['', '', 'Bob'])
      const found = await db
        .select({ name: nameOf(users.id), email: emailOf(users.id) })
        .from(users)
        .where(eq(users.email, bobEmail))
      expect(found).toEqual([{ name: 'Bob', email: bobEmail }])
    })

    test('refuse a call that has a transaction, in the same transaction', async () => {
      const { ada, eveCookie, id } = await team()
      const eve = service.client({ cookie: eveCookie, 'idempotency-key': crypto.randomUUID() })
      const email = (await ada.account.get()).email

      await expect(eve.tickets.create({ projectId: id, title: 'No' })).rejects.toMatchObject({
        code: 'NOT_FOUND',
      })
      await expect(eve.projects.invite({ id, email, role: 'agent' })).rejects.toMatchObject({
        code: 'NOT_FOUND',
      })
      expect(await ada.projects.invite({ id, email, role: 'agent' })).toMatchObject({ id })
    })

    test('change hands by invitation, exclusion and leaving', async () => {
      const { ada, bob, vera, bobEmail, id } = await team()

      expect(await ada.projects.members({ id })).toMatchObject({
        members: [{ role: 'viewer' }, { email: bobEmail, role: 'agent' }],
      })
      await ada.projects.invite({ id, email: bobEmail, role: 'viewer' })
      await expect(bob.tickets.create({ projectId: id, title: 'No' })).rejects.toMatchObject({
        code: 'FORBIDDEN',
      })
      await expect(bob.projects.members({ id })).rejects.toMatchObject({ code: 'FORBIDDEN' })
      await expect(
        bob.projects.invite({ id, email: 'friend@example.com', role: 'agent' }),
      ).rejects.toMatchObject({ code: 'FORBIDDEN' })
      await ada.projects.exclude({ id, email: bobEmail })
      await ada.projects.exclude({ id, email: bobEmail })
      await expect(bob.projects.get({ id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await vera.projects.leave({ id })
      await expect(vera.projects.leave({ id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
      expect(await ada.projects.members({ id })).toEqual({ members: [] })
    })

    test('have pages over own rows and rows of others', async () => {
      const { ada, bob } = await team()
      for (const name of ['1', '2', '3']) {
        await bob.projects.create({ name })
        await ada.projects.create({ name: `Ada ${name}` })
      }

      const all = (await bob.projects.list()).projects
      const first = await bob.projects.list({ limit: 2 })

      expect(all.map(({ name }) => name)).toEqual(['3', '2', '1', 'Bridge'])
      expect(first).toEqual({ projects: all.slice(0, 2), total: 4 })
    })
  })

  describe('rows within a parent', () => {
    test('are created where the parent permits', async () => {
      const { ada, bob, vera, eve, id } = await team()

      expect(await bob.tickets.create({ projectId: id, title: 'Bolt' })).toMatchObject({
        title: 'Bolt',
        status: 'open',
        priority: 'low',
        labels: [],
        can: { EDIT_TICKET: true },
      })
      await expect(vera.tickets.create({ projectId: id, title: 'No' })).rejects.toMatchObject({
        code: 'FORBIDDEN',
      })
      await expect(eve.tickets.create({ projectId: id, title: 'No' })).rejects.toMatchObject({
        code: 'NOT_FOUND',
      })
      await expect(eve.tickets.create({ projectId: id, title: '' })).rejects.toMatchObject({
        code: 'NOT_FOUND',
      })
      await expect(ada.tickets.create({ projectId: 999_999, title: 'No' })).rejects.toMatchObject({
        code: 'NOT_FOUND',
      })
      expect((await ada.tickets.list({ projectId: id })).tickets.map(({ title }) => title)).toEqual(['Bolt'])
    })

    test('keep values of every type', async () => {
      const { ada, id } = await team()
      const values = {
        title: '"Über" \\ \n {a,b}',
        dueAt: '2030-02-03',
        priority: 'high' as const,
        labels: ['a,b', '"', '{}', 'ü'],
        places: [
          [1, 2],
          [3.5, -4],
        ] as [number, number][],
        effort: '12345678.90',
      }

      const ticket = await ada.tickets.create({ projectId: id, ...values })

      expect(ticket).toMatchObject({
        ...values,
        reference: expect.stringMatching(/^[\da-f-]{36}$/) as string,
      })
      expect(await ada.tickets.get({ id: ticket.id })).toEqual(ticket)
      expect((await ada.tickets.list({ projectId: id })).tickets).toEqual([ticket])
      const changes = { labels: ['x'], places: null, effort: null, dueAt: null }
      expect(await ada.tickets.update({ id: ticket.id, ...changes })).toEqual({ ...ticket, ...changes })
    })

    test('are filtered, searched and sorted, within one parent and across parents', async () => {
      const { ada, bob, eve, id } = await team()
      const { id: other } = await bob.projects.create({ name: 'Other' })
      await ada.tickets.create({ projectId: id, title: 'Late', dueAt: '2031-01-01' })
      await ada.tickets.create({ projectId: id, title: 'Never' })
      await bob.tickets.create({ projectId: other, title: 'Soon', dueAt: '2030-01-01', priority: 'high' })
      const titles = async (client: Client, input: Parameters<Client['tickets']['list']>[0]) =>
        (await client.tickets.list(input)).tickets.map(({ title }) => title)

      expect(await titles(bob, {})).toEqual(['Soon', 'Never', 'Late'])
      expect(await titles(bob, { order: 'due' })).toEqual(['Soon', 'Late', 'Never'])
      expect(await titles(bob, { projectId: id, order: 'due' })).toEqual(['Late', 'Never'])
      expect(await titles(bob, { priority: 'high' })).toEqual(['Soon'])
      expect(await titles(bob, { q: 'ev' })).toEqual(['Never'])
      expect(await titles(bob, { projectId: id, q: 'late', status: 'open' })).toEqual(['Late'])
      expect(await titles(ada, {})).toEqual(['Never', 'Late'])
      expect(await titles(eve, {})).toEqual([])
      await expect(titles(eve, { projectId: id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
      expect(await bob.tickets.list({ limit: 1 })).toMatchObject({ total: 3 })
      expect(await bob.tickets.list({ limit: 1, projectId: id, order: 'due' })).toMatchObject({ total: 2 })
    })

    test('are in no list of a member without the permission of the list', async () => {
      const { ada, id } = await team()
      const guest = await person()
      await ada.tickets.create({ projectId: id, title: 'Bolt' })
      await ada.projects.invite({ id, email: guest.email, role: 'guest' })

      expect(await guest.client.tickets.list({})).toEqual({ tickets: [], total: 0 })
      expect(await guest.client.tickets.list({ q: 'bolt', limit: 1 })).toEqual({ tickets: [], total: 0 })
      await expect(guest.client.tickets.list({ projectId: id })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    })

    test('are changed, moved and deleted as the relation to the parents permits', async () => {
      const { ada, bob, vera, eve, id } = await team()
      const { id: other } = await bob.projects.create({ name: 'Other' })
      const { id: ticket } = await ada.tickets.create({ projectId: id, title: 'Bolt' })

      expect(await bob.tickets.update({ id: ticket, title: 'Nut' })).toMatchObject({ title: 'Nut' })
      for (const call of [
        () => vera.tickets.update({ id: ticket, title: 'No' }),
        () => vera.tickets.delete({ id: ticket }),
        () => vera.tickets.close({ id: ticket }),
      ])
        await expect(call()).rejects.toMatchObject({ code: 'FORBIDDEN' })
      for (const call of [
        () => eve.tickets.update({ id: ticket, title: 'No' }),
        () => eve.tickets.delete({ id: ticket }),
        () => eve.tickets.close({ id: ticket }),
        () => eve.tickets.get({ id: ticket }),
        () => ada.tickets.update({ id: ticket, projectId: other }),
      ])
        await expect(call()).rejects.toMatchObject({ code: 'NOT_FOUND' })
      expect(await bob.tickets.update({ id: ticket, projectId: other })).toMatchObject({ projectId: other })
      await expect(ada.tickets.get({ id: ticket })).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await bob.tickets.close({ id: ticket })
      await bob.tickets.delete({ id: ticket })
      await expect(bob.tickets.get({ id: ticket })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    })
  })

  describe('rows within rows within a parent', () => {
    test('are seen by those who see the outer parent, and changed by their author', async () => {
      const { ada, vera, eve, id } = await team()
      const { id: ticketId } = await ada.tickets.create({ projectId: id, title: 'Bolt' })

      const comment = await vera.comments.create({ ticketId, text: 'Which?' })

      expect(comment.can).toEqual({ EDIT_COMMENT: true, DELETE_COMMENT: true })
      expect(await ada.comments.list({ ticketId })).toEqual({
        comments: [{ ...comment, can: { EDIT_COMMENT: false, DELETE_COMMENT: true } }],
      })
      await expect(ada.comments.update({ id: comment.id, text: 'No' })).rejects.toMatchObject({
        code: 'FORBIDDEN',
      })
      await expect(eve.comments.list({ ticketId })).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await expect(eve.comments.create({ ticketId, text: 'No' })).rejects.toMatchObject({
        code: 'NOT_FOUND',
      })
      expect(await vera.comments.update({ id: comment.id, text: 'That' })).toMatchObject({ text: 'That' })
      await ada.comments.delete({ id: comment.id })
      expect(await vera.comments.list({ ticketId })).toEqual({ comments: [] })
    })
  })

  test('the export contains own rows and written rows', async () => {
    const { ada, vera, id } = await team()
    const { id: ticketId } = await ada.tickets.create({ projectId: id, title: 'Bolt' })
    await vera.comments.create({ ticketId, text: 'Which?' })

    expect(await vera.account.export()).toMatchObject({ projects: [], comments: [{ text: 'Which?' }] })
    expect(await ada.account.export()).toMatchObject({ projects: [{ id }] })
  })
})
