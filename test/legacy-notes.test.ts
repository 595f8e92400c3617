import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { isBlank, trimInvisibleStart } from '../engine/contract/schemas.ts'
import { safe } from '../contract/client.ts'
import { createFetch } from '../engine/test/fixtures/http.ts'
import { describeTransports, newEmail, startService } from './fixtures/service.ts'

const service = await startService()
const call = createFetch(service)

const emoji = '🌻'

/** Generates texts that PostgreSQL can store: often line breaks and spaces, sometimes any other code point. */
const storable = fc
  .string({
    unit: fc.oneof(
      fc.constantFrom('\n', '\r', '\r\n', ' ', '\t', 'a', '.', emoji),
      fc.string({ unit: 'binary' }),
    ),
    minLength: 1,
    maxLength: 200,
  })
  .filter((text) => !isBlank(text) && !text.includes('\0'))

const titleOf = (text: string) => {
  const line = text.split(/\r\n|\r|\n/).find((each) => !isBlank(each)) ?? ''
  return Array.from(trimInvisibleStart(line)).slice(0, 120).join('').trim()
}

describeTransports(service, ({ person, stranger }) => {
  describe('legacyNotes.list', () => {
    test('is empty for a new account', async () => {
      const ada = await person()

      expect(await ada.legacyNotes.list()).toEqual({ notes: [], noteCount: 0 })
    })

    test('returns the notes, newest first, and their number', async () => {
      const ada = await person()
      const first = await ada.legacyNotes.create({ newNote: 'One' })
      const second = await ada.legacyNotes.create({ newNote: 'Two' })

      expect(await ada.legacyNotes.list()).toEqual({ notes: [second, first], noteCount: 2 })
    })

    test('does not return notes of other people, shared or not', async () => {
      const email = newEmail()
      const [ada, bob] = [await person(), await person(email)]
      const { id } = await ada.notes.create({ title: 'Shared', body: '' })
      await ada.notes.share({ id, email, role: 'editor' })
      await ada.legacyNotes.create({ newNote: 'Kept' })

      expect(await bob.legacyNotes.list()).toEqual({ notes: [], noteCount: 0 })
      expect(await bob.notes.list()).toMatchObject({ notes: [{ id }] })
    })

    test.each([
      ['Plan', 'One page', 'Plan\n\nOne page'],
      ['Plan', '', 'Plan\n\n'],
      ['Plan', 'Plan\nOne page', 'Plan\nOne page'],
      ['Plan', 'Planning', 'Planning'],
      ['Plan', 'A Plan', 'Plan\n\nA Plan'],
    ])('combines the title %j and the body %j', async (title, body, text) => {
      const ada = await person()
      await ada.notes.create({ title, body })

      expect(await ada.legacyNotes.list()).toMatchObject({ notes: [{ text }], noteCount: 1 })
    })
  })

  describe('legacyNotes.create', () => {
    test('returns the note, with times in seconds', async () => {
      const ada = await person()
      const { id } = await ada.account.get()
      const now = Math.floor(Date.now() / 1000)

      const note = await ada.legacyNotes.create({ newNote: 'Write' })

      expect(note).toEqual({
        id: expect.any(Number),
        userId: id,
        text: 'Write',
        createdAt: expect.any(Number),
        updatedAt: note.createdAt,
      })
      expect(Math.abs(note.createdAt - now)).toBeLessThan(30)
    })

    test.each([
      ['One line', 'One line'],
      ['\n \r\n  First \r\nSecond', 'First'],
      [`${emoji.repeat(121)}\nSecond`, emoji.repeat(120)],
    ])('uses the first line of %j as the title in the second form', async (newNote, title) => {
      const ada = await person()
      const { updatedAt } = await ada.legacyNotes.create({ newNote })

      const { notes } = await ada.notes.list()

      expect(notes).toEqual([
        {
          id: expect.any(String),
          title,
          body: newNote,
          mine: true,
          sharedWith: 0,
          updatedAt: expect.any(String),
          can: { VIEW_NOTE: true, EDIT_NOTE: true, SHARE_NOTE: true, DELETE_NOTE: true },
        },
      ])
      expect(notes.map((note) => Math.floor(Date.parse(note.updatedAt) / 1000))).toEqual([updatedAt])
    })

    test('stores any text unchanged', async () => {
      const ada = await person()

      await fc.assert(
        fc.asyncProperty(storable, async (newNote) => {
          const created = await ada.legacyNotes.create({ newNote })

          const listed = await ada.legacyNotes.list()
          const [seen] = (await ada.notes.list()).notes
          await ada.legacyNotes.reset()

          expect(created.text).toBe(newNote)
          expect(listed).toEqual({ notes: [created], noteCount: 1 })
          expect(seen).toMatchObject({ title: titleOf(newNote), body: newNote })
        }),
      )
    })

    const edges = fc
      .tuple(storable, fc.constantFrom('a', ' ', '\n', emoji), fc.nat(4000))
      .map(([text, unit, count]) =>
        Array.from(text + unit.repeat(count))
          .slice(0, 4000)
          .join(''),
      )

    test('accepts only notes that their author can save again unchanged', async () => {
      const ada = await person()

      await fc.assert(
        fc.asyncProperty(edges, async (newNote) => {
          await ada.legacyNotes.create({ newNote })
          const [seen] = (await ada.notes.list()).notes
          if (!seen) throw new Error('The note is not in the list')
          const { id, title, body, updatedAt } = seen

          const saved = await ada.notes.update({ id, title, body })
          await ada.legacyNotes.reset()

          expect(saved).toMatchObject({ title, body: newNote, updatedAt })
        }),
        { numRuns: 30 },
      )
    })

    test.each(['x', emoji])('accepts 4,000 code points of %s, and rejects more', async (character) => {
      const ada = await person()

      const { text } = await ada.legacyNotes.create({ newNote: character.repeat(4000) })
      const { error } = await safe(ada.legacyNotes.create({ newNote: character.repeat(4001) }))

      expect(text).toBe(character.repeat(4000))
      expect(error).toMatchObject({
        status: 400,
        data: { issues: [{ path: 'newNote', message: 'Must have at most 4000 characters' }] },
      })
    })

    test.each(['', ' ', '\n\t \u2028\ufeff', 'a\0b', 'a\ud800b', 5, null, undefined])(
      'rejects %j, and adds nothing',
      async (newNote) => {
        const ada = await person()

        await expect(ada.legacyNotes.create({ newNote } as never)).rejects.toMatchObject({
          code: 'BAD_REQUEST',
          defined: false,
          status: 400,
          data: { issues: [{ path: 'newNote', message: expect.any(String) }] },
        })

        expect(await ada.legacyNotes.list()).toEqual({ notes: [], noteCount: 0 })
      },
    )
  })

  describe('legacyNotes.delete', () => {
    test('deletes one note in both forms', async () => {
      const ada = await person()
      const { id } = await ada.legacyNotes.create({ newNote: 'One' })
      const kept = await ada.legacyNotes.create({ newNote: 'Two' })

      expect(await ada.legacyNotes.delete({ id })).toEqual({ success: true })

      expect(await ada.legacyNotes.list()).toEqual({ notes: [kept], noteCount: 1 })
      expect(await ada.notes.list()).toMatchObject({ notes: [{ body: 'Two' }] })
    })

    test('returns the same for absent notes and notes of other people, and deletes nothing', async () => {
      const email = newEmail()
      const [ada, bob] = [await person(), await person(email)]
      const note = await ada.legacyNotes.create({ newNote: 'Mine' })
      for (const { id } of (await ada.notes.list()).notes)
        await ada.notes.share({ id, email, role: 'editor' })

      for (const id of [note.id, 0, 987_654_321, 2 ** 53])
        expect(await bob.legacyNotes.delete({ id })).toEqual({ success: true })

      expect(await ada.legacyNotes.list()).toEqual({ notes: [note], noteCount: 1 })
    })

    test.each([-1, 1.5])('rejects %d', async (id) => {
      const ada = await person()

      await expect(ada.legacyNotes.delete({ id })).rejects.toMatchObject({
        code: 'BAD_REQUEST',
        defined: false,
        data: { issues: [{ path: 'id', message: 'Must be a whole number' }] },
      })
    })
  })

  describe('legacyNotes.reset', () => {
    test('deletes all notes of the caller, and no others', async () => {
      const email = newEmail()
      const [ada, bob] = [await person(email), await person()]
      await ada.legacyNotes.create({ newNote: 'Mine' })
      const { id } = await bob.notes.create({ title: 'His', body: '' })
      await bob.notes.share({ id, email, role: 'editor' })

      expect(await ada.legacyNotes.reset()).toEqual({ noteCount: 0 })

      expect(await ada.legacyNotes.list()).toEqual({ notes: [], noteCount: 0 })
      expect(await ada.notes.list()).toMatchObject({ notes: [{ id }] })
      expect(await bob.legacyNotes.list()).toMatchObject({ noteCount: 1 })
    })
  })

  describe('legacyNotes', () => {
    test('checks authentication first', async () => {
      const answers = [
        stranger.legacyNotes.list(),
        stranger.legacyNotes.create({ newNote: '' }),
        stranger.legacyNotes.delete({ id: -1 }),
        stranger.legacyNotes.reset(),
      ]

      for (const { error } of await Promise.all(answers.map((answer) => safe<unknown>(answer))))
        expect(error).toMatchObject({
          code: 'UNAUTHORIZED',
          defined: true,
          status: 401,
          message: 'Sign in first',
        })
    })
  })
})

describe('DELETE /api/notes/{id}', () => {
  test.each(['abc', '1.5', '0x1', '-1', '%20', '1e3', '012', '00'])('rejects %s', async (id) => {
    const cookie = await service.signIn(newEmail())

    const { status, body } = await call('DELETE', `/api/notes/${id}`, undefined, { cookie })

    expect(status).toBe(400)
    expect(body).toMatchObject({ defined: false, code: 'BAD_REQUEST', data: { issues: [{ path: 'id' }] } })
  })
})
