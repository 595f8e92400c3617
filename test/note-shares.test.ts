import { beforeAll, describe, expect, test } from 'vitest'

import { type Client, type Outputs, pages } from '../contract/client.ts'
import { badRequest, content, createSharing, forbidden, notFound, reading, viewed } from './fixtures/notes.ts'
import { describeTransports, newEmail, startService } from './fixtures/service.ts'

const service = await startService()

type Note = Outputs['notes']['create']

describeTransports(service, ({ person }) => {
  const sharing = createSharing(person)

  describe('notes.share', () => {
    let author: Client
    let unshared: Note
    beforeAll(async () => {
      author = await person()
      unshared = await author.notes.create(content)
    })

    test('returns the note, shared with one more address', async () => {
      const ada = await person()
      const note = await ada.notes.create(content)

      const once = await ada.notes.share({ id: note.id, email: newEmail(), role: 'reader' })
      const twice = await ada.notes.share({ id: note.id, email: newEmail(), role: 'editor' })

      expect(once).toEqual({ ...note, sharedWith: 1 })
      expect(twice).toEqual({ ...note, sharedWith: 2 })
    })

    test('applies to an address in upper or lower case, and before its account exists', async () => {
      const email = newEmail()
      const ada = await person()
      const { id } = await ada.notes.create(content)
      await ada.notes.share({ id, email: email.toUpperCase(), role: 'reader' })

      const bob = await person(email)

      expect(await viewed(bob, id)).toMatchObject({ mine: false, can: reading })
    })

    test('returns the same with and without an account of the address', async () => {
      const email = newEmail()
      const [ada] = [await person(), await person(email)]
      const [known, unknown] = [await ada.notes.create(content), await ada.notes.create(content)]

      const toKnown = await ada.notes.share({ id: known.id, email, role: 'reader' })
      const toUnknown = await ada.notes.share({ id: unknown.id, email: newEmail(), role: 'reader' })

      expect({ ...toKnown, id: '', updatedAt: '' }).toEqual({ ...toUnknown, id: '', updatedAt: '' })
    })

    test('changes the role of an existing share', async () => {
      const { ada, bob, email, note } = await sharing('editor')

      const again = await ada.notes.share({ id: note.id, email: email.toUpperCase(), role: 'reader' })

      expect(again).toEqual(note)
      expect(await viewed(bob, note.id)).toMatchObject({ can: reading })
      await expect(bob.notes.update({ id: note.id, ...content })).rejects.toMatchObject(forbidden)
    })

    test('changes nothing for the own address', async () => {
      const email = newEmail()
      const ada = await person(email)
      const note = await ada.notes.create(content)

      expect(await ada.notes.share({ id: note.id, email, role: 'reader' })).toEqual(note)
      expect(await ada.notes.share({ id: note.id, email: email.toUpperCase(), role: 'editor' })).toEqual(note)

      expect((await ada.notes.list()).notes).toEqual([note])
    })

    test('accepts an address of 254 characters', async () => {
      const ada = await person()
      const { id } = await ada.notes.create(content)
      const email = `${'a'.repeat(242)}@example.com`

      expect(await ada.notes.share({ id, email, role: 'reader' })).toMatchObject({
        sharedWith: 1,
      })
    })

    test.each([
      ['email', { email: '', role: 'reader' }],
      ['email', { email: 'ada', role: 'reader' }],
      ['email', { email: 'ada@localhost', role: 'reader' }],
      ['email', { email: 'a da@example.com', role: 'reader' }],
      ['email', { email: `${'a'.repeat(243)}@example.com`, role: 'reader' }],
      ['email', { email: ' ada@example.com', role: 'reader' }],
      ['email', { email: 'ada@example.com ', role: 'reader' }],
      ['email', { email: 'ada@example.com\n', role: 'reader' }],
      ['email', { role: 'reader' }],
      ['role', { email: 'ada@example.com', role: 'author' }],
      ['role', { email: 'ada@example.com' }],
    ])('rejects an invalid %s (%#), and shares nothing', async (path, input) => {
      const answer = author.notes.share({ id: unshared.id, ...input } as never)

      await expect(answer).rejects.toMatchObject(badRequest(path))
      expect((await author.notes.list()).notes).toEqual([unshared])
    })
  })

  describe('notes.shares', () => {
    test('is empty for a note that is not shared', async () => {
      const ada = await person()
      const { id } = await ada.notes.create(content)

      expect(await ada.notes.shares({ id })).toEqual({ shares: [] })
    })

    test('returns address, role and time of each share, newest first, in pages', async () => {
      const ada = await person()
      const { id } = await ada.notes.create(content)
      // Addresses before and after the id of the note in the order of texts.
      const emails = ['0', '00', '5', 'a', 'z'].map((start) => start + newEmail())
      for (const email of emails) await ada.notes.share({ id, email, role: 'reader' })
      await ada.notes.share({ id, email: emails[0] ?? '', role: 'editor' })

      const { shares } = await ada.notes.shares({ id })
      const read = []
      for await (const page of pages(ada.notes.shares, { id, limit: 2 })) read.push(page)

      expect(new Set(shares.map(({ email }) => email))).toEqual(new Set(emails))
      for (const { email, role, createdAt } of shares) {
        expect(role).toBe(email === emails[0] ? 'editor' : 'reader')
        expect(createdAt).toBe(new Date(createdAt).toISOString())
      }
      expect(shares.map(({ createdAt }) => createdAt)).toEqual(
        shares
          .map(({ createdAt }) => createdAt)
          .sort()
          .reverse(),
      )
      expect(read.map((page) => page.shares.length)).toEqual([2, 2, 1])
      expect(read.flatMap((page) => page.shares)).toEqual(shares)
    })

    test('returns the same with and without an account of the address', async () => {
      const [known, unknown] = [newEmail(), newEmail()]
      const [ada] = [await person(), await person(known)]
      const { id } = await ada.notes.create(content)
      for (const email of [known, unknown]) await ada.notes.share({ id, email, role: 'reader' })

      const { shares } = await ada.notes.shares({ id })

      const withoutTime = shares.map((share) => ({ ...share, createdAt: '' }))
      expect(withoutTime).toHaveLength(2)
      for (const email of [known, unknown])
        expect(withoutTime).toContainEqual({ email, role: 'reader', createdAt: '' })
    })

    test.each(['reader', 'editor'] as const)('is refused for a person with the role %s', async (role) => {
      const { bob, note } = await sharing(role)

      await expect(bob.notes.shares({ id: note.id })).rejects.toMatchObject(forbidden)
    })
  })

  describe('notes.leave', () => {
    test.each(['reader', 'editor'] as const)(
      'ends the own access of a person with the role %s',
      async (role) => {
        const { ada, bob, note } = await sharing(role)
        const friend = newEmail()
        await ada.notes.share({ id: note.id, email: friend, role: 'reader' })

        expect(await bob.notes.leave({ id: note.id })).toEqual({ id: note.id })

        expect(await viewed(bob, note.id)).toBeUndefined()
        await expect(bob.notes.update({ id: note.id, ...content })).rejects.toMatchObject(forbidden)
        expect(await viewed(ada, note.id)).toEqual({ ...note, sharedWith: 1 })
        expect((await ada.notes.shares({ id: note.id })).shares).toMatchObject([{ email: friend }])
      },
    )

    test('does not prevent that the author shares the note again', async () => {
      const { ada, bob, email, note } = await sharing('editor')
      await bob.notes.leave({ id: note.id })

      await ada.notes.share({ id: note.id, email, role: 'reader' })

      expect(await viewed(bob, note.id)).toMatchObject({ can: reading })
    })

    test('changes the entity tag of the author', async () => {
      const { ada, bob, note } = await sharing('reader')
      const context = { headers: { 'if-match': '"1.1"' } }

      await bob.notes.leave({ id: note.id })

      const rejected = ada.notes.update({ id: note.id, ...content }, { context })
      await expect(rejected).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' })
    })

    test('is refused for the author, and for a person without a share', async () => {
      const { ada, note } = await sharing('reader')
      const stranger = await person()

      for (const client of [ada, stranger])
        await expect(client.notes.leave({ id: note.id })).rejects.toMatchObject(forbidden)

      expect(await viewed(ada, note.id)).toEqual(note)
    })

    test.each([crypto.randomUUID(), 'absent'])('does not find the note %s', async (id) => {
      const ada = await person()

      await expect(ada.notes.leave({ id })).rejects.toMatchObject(notFound)
    })
  })

  describe('notes.unshare', () => {
    test('ends the access of the address immediately, in upper or lower case', async () => {
      const { ada, bob, email, note } = await sharing('editor')

      const taken = await ada.notes.unshare({ id: note.id, email: email.toUpperCase() })

      expect(taken).toEqual({ ...note, sharedWith: 0 })
      expect((await ada.notes.shares({ id: note.id })).shares).toEqual([])
      expect(await viewed(bob, note.id)).toBeUndefined()
      await expect(bob.notes.update({ id: note.id, ...content })).rejects.toMatchObject(forbidden)
    })

    test('returns the note also if the address has no share, and keeps the other shares', async () => {
      const { ada, bob, note } = await sharing('reader')

      expect(await ada.notes.unshare({ id: note.id, email: newEmail() })).toEqual(note)

      expect(await viewed(bob, note.id)).toMatchObject({ can: reading })
    })

    test.each([
      ['email', { email: 'ada' }],
      ['email', { email: ' ada@example.com' }],
      ['email', {}],
    ])('rejects an invalid %s (%#)', async (path, input) => {
      const { ada, note } = await sharing('reader')

      const answer = ada.notes.unshare({ id: note.id, ...input } as never)

      await expect(answer).rejects.toMatchObject(badRequest(path))
      expect(await viewed(ada, note.id)).toEqual(note)
    })
  })
})
