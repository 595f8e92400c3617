import { eq, sql } from 'drizzle-orm'
import { createTallystick } from 'tallystick-dev/testing'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { app } from './albums/app.ts'
import type { Client } from './albums/contract.ts'
import { albums, guests, photos as photoTable } from './albums/db.ts'

type Service = Awaited<ReturnType<typeof createTallystick<typeof app.contract, typeof app.router>>>

const databases = { 'a PostgreSQL server': {}, 'the embedded database': { DATABASE_URL: 'memory:' } }
const absent = '01890a5d-ac96-774b-bcce-b302099a8057'
const notFound = { code: 'NOT_FOUND', status: 404 }
const forbidden = { code: 'FORBIDDEN', status: 403 }
const preconditionFailed = { code: 'PRECONDITION_FAILED', status: 412 }

const ifMatch = (tag: string) => ({ context: { headers: { 'if-match': tag } } })

describe.each(Object.entries(databases))('rows with another key on %s', (_, environment) => {
  let service: Service

  beforeAll(async () => {
    service = await createTallystick(app, environment, { compareStates: false })
  }, 120_000)
  afterAll(() => service.close())

  let count = 0
  const newEmail = () => `person${++count}@example.com`

  /** An album of Ada, which Bob sees with a role. Eve is a stranger. */
  async function team(role: 'reader' | 'editor' = 'reader') {
    const email = newEmail()
    const [ada, bob, eve] = [await service.person(), await service.person(email), await service.person()]
    const album = await ada.albums.create({ title: 'Bridge' })
    await ada.albums.invite({ id: album.id, email, role })
    return { ada, bob, eve, email, id: album.id }
  }

  /** Returns the entity tag of the answer of a call. */
  async function tagOf(call: (options: { context: { reply: Map<string, string | string[]> } }) => unknown) {
    const reply = new Map<string, string | string[]>()
    await call({ context: { reply } })
    return String(reply.get('etag'))
  }

  /** The tag of the album for a person, after a change that changes nothing. */
  const currentTag = (client: Client, id: string) =>
    tagOf((options) => client.albums.update({ id, title: 'Bridge' }, options))

  const attempts = {
    update: (client: Client, id: string) => client.albums.update({ id, title: 'New' }),
    delete: (client: Client, id: string) => client.albums.delete({ id }),
    guests: (client: Client, id: string) => client.albums.guests({ id }),
    invite: (client: Client, id: string) =>
      client.albums.invite({ id, email: 'x@example.com', role: 'reader' }),
    exclude: (client: Client, id: string) => client.albums.exclude({ id, email: 'x@example.com' }),
    leave: (client: Client, id: string) => client.albums.leave({ id }),
    'list within': (client: Client, id: string) => client.photos.list({ albumId: id }),
    'create within': (client: Client, id: string) => client.photos.create({ albumId: id, title: 'New' }),
  }

  describe.each(Object.entries(attempts))('%s', (_, attempt) => {
    test.each(['7', 'abc', '', `${absent}0`, absent])('does not find %j', async (id) => {
      const { ada } = await team()

      await expect(attempt(ada, id)).rejects.toMatchObject(notFound)
    })

    test('is forbidden for a person who may not see the row', async () => {
      const { eve, id } = await team()

      await expect(attempt(eve, id)).rejects.toMatchObject(forbidden)
    })
  })

  test('rows within a row refer to its key, and are found by their own UUID', async () => {
    const { ada, bob, id } = await team('editor')
    const other = await ada.albums.create({ title: 'Other' })

    const photo = await bob.photos.create({ albumId: id, title: 'Arch' })

    expect(await ada.photos.list({ albumId: id })).toEqual({ photos: [photo], total: 1 })
    expect(await ada.photos.get({ id: photo.id.toUpperCase() })).toEqual(photo)
    for (const call of [
      () => ada.photos.get({ id: 'abc' }),
      () => ada.photos.move({ id: 'abc', albumId: id }),
      () => ada.photos.move({ id: photo.id, albumId: 'abc' }),
    ])
      await expect(call()).rejects.toMatchObject(notFound)
    await expect(bob.photos.move({ id: photo.id, albumId: other.id })).rejects.toMatchObject(forbidden)
    expect(await ada.photos.move({ id: photo.id, albumId: other.id })).toMatchObject({ albumId: other.id })
    const rows = await service.services.db.select().from(photoTable).where(eq(photoTable.id, photo.id))
    expect(rows).toMatchObject([{ albumId: other.id }])
  })

  test('the owner alone sees the number of members', async () => {
    const { ada, bob, id } = await team('editor')
    const other = await ada.albums.create({ title: 'Other' })

    const invited = await ada.albums.invite({ id, email: 'x@example.com', role: 'reader' })

    const album = { id, title: 'Bridge' }
    expect(invited).toEqual({ ...album, mine: true, guestCount: 2 })
    expect(await ada.albums.list()).toEqual({ albums: [other, invited] })
    expect(await bob.albums.list()).toEqual({ albums: [{ ...album, mine: false, guestCount: 0 }] })
    expect(await bob.albums.update({ id, title: 'Arch' })).toMatchObject({ mine: false, guestCount: 0 })
    expect(await ada.albums.exclude({ id, email: 'x@example.com' })).toMatchObject({ guestCount: 1 })
  })

  test('shared rows are in the order of their creation, also in pages', async () => {
    const { ada, bob, email, id: first } = await team()
    const own = await bob.albums.create({ title: 'Own' })
    const second = await ada.albums.create({ title: 'Second' })
    const third = await ada.albums.create({ title: 'Third' })
    for (const { id } of [third, second]) await ada.albums.invite({ id, email, role: 'reader' })
    const ids = [third.id, second.id, own.id, first]

    const { albums } = await bob.albums.list()
    const context = { reply: new Map<string, string | string[]>() }
    const page = await bob.albums.list({ limit: 2 }, { context })
    const cursor = /cursor=([^&>]+)/.exec(String(context.reply.get('link')))?.[1]
    const next = await bob.albums.list({ limit: 2, cursor })

    expect(albums.map(({ id }) => id)).toEqual(ids)
    expect([...page.albums, ...next.albums].map(({ id }) => id)).toEqual(ids)
  })

  test('the tag of the owner changes with each change of a member, and nobody else sees it', async () => {
    const { ada, bob, email, id } = await team('editor')
    const tags = [await currentTag(ada, id)]
    const his = await currentTag(bob, id)
    const change = async (call: Promise<unknown>) => {
      await call
      tags.push(await currentTag(ada, id))
    }

    await change(ada.albums.invite({ id, email, role: 'editor' }))
    await change(ada.albums.invite({ id, email: 'x@example.com', role: 'reader' }))
    await change(ada.albums.exclude({ id, email: 'absent@example.com' }))
    await change(ada.albums.exclude({ id, email: 'x@example.com' }))
    const hisLater = await currentTag(bob, id)
    await change(bob.albums.leave({ id }))

    expect(tags.map((tag) => tags.indexOf(tag))).toEqual([0, 0, 2, 2, 4, 5])
    expect(hisLater).toBe(his)
  })

  test('the time of a membership changes only with the role', async () => {
    const { ada, email, id } = await team()
    const read = () => service.services.db.select().from(guests).where(eq(guests.email, email))
    const [invited] = await read()
    await service.services.db
      .update(guests)
      .set({ updatedAt: new Date('2020-01-01') })
      .where(eq(guests.email, email))

    await ada.albums.invite({ id, email, role: 'reader' })
    const [same] = await read()
    await ada.albums.invite({ id, email, role: 'editor' })
    const [changed] = await read()

    expect(same).toEqual({ ...invited, updatedAt: new Date('2020-01-01') })
    expect(changed).toMatchObject({ role: 'editor', createdAt: invited?.createdAt })
    expect(changed?.updatedAt.getTime()).toBeGreaterThan(Date.parse('2021-01-01'))
  })

  test('If-Match is compared with the tag, after 404 and 403, and before 400', async () => {
    const { ada, bob, eve, email, id } = await team()
    const stale = ifMatch(await currentTag(ada, id))
    await ada.albums.invite({ id, email: 'x@example.com', role: 'reader' })
    const current = ifMatch(await currentTag(ada, id))
    const reader = ifMatch('"1"')

    for (const call of [
      () => ada.albums.update({ id, title: 'New' }, stale),
      () => ada.albums.update({ id, title: '' }, stale),
      () => ada.albums.invite({ id, email, role: 'editor' }, stale),
      () => ada.albums.exclude({ id, email }, stale),
      () => ada.albums.delete({ id }, stale),
    ])
      await expect(call()).rejects.toMatchObject(preconditionFailed)
    for (const tag of [stale, reader])
      for (const call of [
        () => eve.albums.update({ id, title: '' }, tag),
        () => bob.albums.update({ id, title: 'New' }, tag),
        () => bob.albums.invite({ id, email, role: 'editor' }, tag),
        () => bob.albums.exclude({ id, email }, tag),
        () => bob.albums.delete({ id }, tag),
        () => ada.albums.leave({ id }, tag),
      ])
        await expect(call()).rejects.toMatchObject(forbidden)
    await expect(ada.albums.update({ id: 'abc', title: 'New' }, stale)).rejects.toMatchObject(notFound)
    await expect(ada.albums.update({ id, title: '' }, current)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    expect(await ada.albums.invite({ id, email, role: 'editor' }, current)).toMatchObject({ guestCount: 2 })
    expect(await bob.albums.leave({ id }, reader)).toEqual({ id })
    expect(await ada.albums.delete({ id }, ifMatch(await currentTag(ada, id)))).toEqual({ id })
  })

  test('an invitation of the own address changes nothing, and needs the permission', async () => {
    const { ada, bob, email, id } = await team()
    const own = (await ada.account.get()).email

    const tag = await tagOf((options) => ada.albums.invite({ id, email: own, role: 'reader' }, options))

    expect(tag).toBe(await currentTag(ada, id))
    expect((await ada.albums.guests({ id })).guests).toEqual([{ email, role: 'reader' }])
    await expect(bob.albums.invite({ id, email, role: 'editor' })).rejects.toMatchObject(forbidden)
  })

  test('concurrent changes of the members of a row are all counted', async () => {
    const { ada, id } = await team()
    const emails = Array.from({ length: 10 }, newEmail)

    await Promise.all(emails.map((email) => ada.albums.invite({ id, email, role: 'reader' })))
    await Promise.all(emails.map((email) => ada.albums.exclude({ id, email })))

    expect(await currentTag(ada, id)).toBe('"1.21"')
  })

  test('an invitation waits for a concurrent deletion of the row, and does not find the row', async () => {
    const { ada, id } = await team()
    const isServer = !('DATABASE_URL' in environment)

    const invitation = await service.services.db.transaction(async (tx) => {
      await tx.delete(albums).where(eq(albums.uuid, id))
      const answer = ada.albums
        .invite({ id, email: newEmail(), role: 'reader' })
        .catch((error: unknown) => error)
      // The embedded database has one connection, so the invitation begins after the transaction.
      if (isServer) await vi.waitUntil(() => tx.$count(sql`pg_locks`, sql`not granted`), { timeout: 30_000 })
      return { answer }
    })

    expect(await invitation.answer).toMatchObject(notFound)
  })

  test('the deletion of all rows of an owner is announced to the members', async () => {
    const { ada, bob, id } = await team()
    const updates = await bob.live.watch({ topics: ['albums'] })

    expect((await updates.next()).value).toMatchObject({ state: { albums: [{ id }] } })
    await ada.albums.clear()
    expect((await updates.next()).value).toMatchObject({ state: { albums: [] } })
    await updates.return()
  })

  test('the export has the fields that the resource selects', async () => {
    const { ada, bob } = await team()

    expect(await ada.account.export()).toMatchObject({ albums: ['Bridge'], albumCount: 1 })
    expect(await bob.account.export()).toMatchObject({ albums: [], albumCount: 0 })
  })
})
