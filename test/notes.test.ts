import { beforeAll, describe, expect, test } from 'vitest'

import { type Client, createRestClient, type Outputs, safe } from '../contract/client.ts'
import { createFetch } from '../engine/test/fixtures/http.ts'
import {
  badRequest,
  content,
  createSharing,
  editing,
  everything,
  forbidden,
  notFound,
  nothing,
  reading,
  viewed,
} from './fixtures/notes.ts'
import { describeTransports, newEmail, startService } from './fixtures/service.ts'

const service = await startService()
const call = createFetch(service)

const emoji = '🌻'

/** Waits until the time of the database, in milliseconds, has changed. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 10))

type Note = Outputs['notes']['create']

/** For each action on a note, a function that tries the action and returns whether it was permitted. */
const attempts = {
  VIEW_NOTE: async (client: Client, id: string) => (await viewed(client, id)) !== undefined,
  EDIT_NOTE: (client: Client, id: string) => isAllowed(client.notes.update({ id, ...content })),
  SHARE_NOTE: (client: Client, id: string) =>
    isAllowed(client.notes.share({ id, email: newEmail(), role: 'reader' })),
  DELETE_NOTE: (client: Client, id: string) => isAllowed(client.notes.delete({ id })),
}

async function isAllowed(answer: Promise<unknown>) {
  const { error } = await safe(answer)
  if (error) expect(error).toMatchObject(forbidden)
  return !error
}

describeTransports(service, ({ person, stranger }) => {
  const sharing = createSharing(person)

  describe('notes', () => {
    test.each([
      ['the author', everything],
      ['an editor', editing],
      ['a reader', reading],
      ['a person without a relation', nothing],
    ])('allows %s exactly the actions in `can`', async (who, expected) => {
      const email = newEmail()
      const ada = await person()
      const bob = who === 'the author' ? ada : await person(email)
      const { id } = await ada.notes.create(content)
      if (who === 'an editor') await ada.notes.share({ id, email, role: 'editor' })
      if (who === 'a reader') await ada.notes.share({ id, email, role: 'reader' })

      const can = (await viewed(bob, id))?.can ?? nothing
      const lets: Record<string, boolean> = {}
      for (const [action, attempt] of Object.entries(attempts)) lets[action] = await attempt(bob, id)

      expect(can).toEqual(expected)
      expect(lets).toEqual(expected)
      expect((await viewed(ada, id)) === undefined).toBe(expected.DELETE_NOTE)
    })

    test('checks authentication first', async () => {
      const wrong = { id: 'absent', title: '', body: '' }
      const answers = [
        stranger.notes.list(),
        stranger.notes.create(wrong),
        stranger.notes.update(wrong),
        stranger.notes.share({ id: 'absent', email: 'none', role: 'reader' }),
        stranger.notes.shares(wrong),
        stranger.notes.unshare({ id: 'absent', email: 'none' }),
        stranger.notes.leave(wrong),
        stranger.notes.delete(wrong),
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

  describe('notes.list', () => {
    test('is empty for a new account, which may create notes', async () => {
      const ada = await person()

      expect(await ada.notes.list()).toEqual({ notes: [], can: { CREATE_NOTE: true } })
    })

    test('returns own and shared notes, newest first, and no others', async () => {
      const email = newEmail()
      const [ada, bob] = await Promise.all([person(), person(email)])
      const first = await bob.notes.create({ title: 'One', body: '' })
      const given = await ada.notes.create({ title: 'Two', body: '' })
      const last = await bob.notes.create({ title: 'Three', body: '' })
      await ada.notes.create({ title: 'Kept', body: '' })
      await ada.notes.share({ id: given.id, email, role: 'reader' })
      await bob.notes.update({ ...first, body: 'Changed later, and still the oldest' })

      const { notes } = await bob.notes.list()

      expect(notes.map(({ id, mine }) => ({ id, mine }))).toEqual([
        { id: last.id, mine: true },
        { id: given.id, mine: false },
        { id: first.id, mine: true },
      ])
    })

    test('returns a note of another person with `mine: false`, and without the number of shares', async () => {
      const { ada, bob, note } = await sharing('reader')

      expect((await bob.notes.list()).notes).toEqual([{ ...note, mine: false, sharedWith: 0, can: reading }])
      expect((await ada.notes.list()).notes).toEqual([{ ...note, sharedWith: 1 }])
    })
  })

  describe('notes.create', () => {
    test('returns the note, with all permissions', async () => {
      const ada = await person()

      const note = await ada.notes.create(content)

      expect(note).toEqual({
        id: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/),
        ...content,
        mine: true,
        sharedWith: 0,
        updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        can: everything,
      })
      expect(Math.abs(Date.parse(note.updatedAt) - Date.now())).toBeLessThan(30_000)
      expect((await ada.notes.list()).notes).toEqual([note])
    })

    test('trims the title, and stores the body unchanged', async () => {
      const ada = await person()

      expect(await ada.notes.create({ title: '\n Plan\t', body: ' \r\n a\n ' })).toMatchObject({
        title: 'Plan',
        body: ' \r\n a\n ',
      })
    })

    test.each([
      ['a title of 120', { title: emoji.repeat(120), body: '' }],
      ['a title of 120 and blanks', { title: `  ${'a'.repeat(120)}  `, body: '' }],
      ['a body of 4000', { title: 'a', body: emoji.repeat(4000) }],
    ])('accepts %s', async (_, input) => {
      const ada = await person()

      expect(await ada.notes.create(input)).toMatchObject({ title: input.title.trim(), body: input.body })
    })
  })

  describe.each(['create', 'update'] as const)('notes.%s', (verb) => {
    let ada: Client
    let note: Note
    beforeAll(async () => {
      ada = await person()
      note = await ada.notes.create(content)
    })

    test.each([
      ['title', { title: '', body: '' }],
      ['title', { title: ' \n ', body: '' }],
      ['title', { title: emoji.repeat(121), body: '' }],
      ['title', { title: 'a\0', body: '' }],
      ['title', { title: 5, body: '' }],
      ['title', { body: '' }],
      ['body', { title: 'a', body: 'b'.repeat(4001) }],
      ['body', { title: 'a', body: 'b\0' }],
      ['body', { title: 'a', body: null }],
      ['body', { title: 'a' }],
    ])('rejects an invalid %s (%#), and stores nothing', async (path, input) => {
      const answer = ada.notes[verb]({ id: note.id, ...input } as never)

      await expect(answer).rejects.toMatchObject(badRequest(path))
      expect((await ada.notes.list()).notes).toEqual([note])
    })
  })

  describe('notes.update', () => {
    test('changes title and body', async () => {
      const ada = await person()
      const note = await ada.notes.create(content)
      await pause()

      const changed = await ada.notes.update({ id: note.id, title: ' Plot ', body: '' })

      expect(changed).toEqual({ ...note, title: 'Plot', body: '', updatedAt: expect.any(String) })
      expect((await ada.notes.list()).notes).toEqual([changed])
    })

    test('changes updatedAt only with the content', async () => {
      const ada = await person()
      const note = await ada.notes.create(content)
      await pause()

      const same = await ada.notes.update({ id: note.id, title: ' Plan ', body: 'One page' })
      const shared = await ada.notes.share({ id: note.id, email: newEmail(), role: 'reader' })
      const changed = await ada.notes.update({ id: note.id, ...content, body: 'Two pages' })

      expect(same).toEqual(note)
      expect(shared.updatedAt).toBe(note.updatedAt)
      expect(Date.parse(changed.updatedAt)).toBeGreaterThan(Date.parse(note.updatedAt))
    })

    test('is allowed for an editor before the first notes.list', async () => {
      const { ada, bob, note } = await sharing('editor')

      const changed = await bob.notes.update({ id: note.id, title: 'Ours', body: 'Edited' })

      expect(changed).toEqual({
        ...note,
        title: 'Ours',
        body: 'Edited',
        mine: false,
        sharedWith: 0,
        updatedAt: expect.any(String),
        can: editing,
      })
      expect(await viewed(ada, note.id)).toEqual({ ...changed, mine: true, sharedWith: 1, can: everything })
    })
  })

  describe('notes.delete', () => {
    test('returns the id, and deletes the note for everyone', async () => {
      const { ada, bob, note } = await sharing('editor')
      const kept = await ada.notes.create(content)

      expect(await ada.notes.delete({ id: note.id })).toEqual({ id: note.id })

      expect((await ada.notes.list()).notes).toEqual([kept])
      expect((await bob.notes.list()).notes).toEqual([])
      await expect(bob.notes.update({ id: note.id, ...content })).rejects.toMatchObject(notFound)
      await expect(ada.notes.delete({ id: note.id })).rejects.toMatchObject(notFound)
    })
  })

  describe.each([
    ['update', (client: Client, id: string) => client.notes.update({ id, title: '', body: '' })],
    ['share', (client: Client, id: string) => client.notes.share({ id, email: 'none', role: 'reader' })],
    ['shares', (client: Client, id: string) => client.notes.shares({ id, limit: 0 })],
    ['unshare', (client: Client, id: string) => client.notes.unshare({ id, email: 'none' })],
    ['delete', (client: Client, id: string) => client.notes.delete({ id, more: '' } as { id: string })],
  ] as const)('notes.%s', (_, attempt: (client: Client, id: string) => Promise<unknown>) => {
    let eve: Client
    beforeAll(async () => {
      eve = await person()
    })

    test.each(['abc', '7', '01890a5d-ac96-774b-bcce-b302099a8057', 'a/b?c', '%', emoji])(
      'returns 404 for %j, even with other errors in the request',
      async (id) => {
        await expect(attempt(eve, id)).rejects.toMatchObject(notFound)
      },
    )

    test('returns 403 without the permission, even with other errors in the request', async () => {
      const { bob, note } = await sharing('reader')

      await expect(attempt(bob, note.id)).rejects.toMatchObject(forbidden)
      await expect(attempt(eve, note.id)).rejects.toMatchObject(forbidden)
    })
  })
})

describe.each(['', '/share', '/unshare', '/delete'])('POST /api/notes/{id}%s', (operation) => {
  let [ada, eve, id] = ['', '', '']
  beforeAll(async () => {
    ;[ada, eve] = [await service.signIn(newEmail()), await service.signIn(newEmail())]
    id = (await service.client({ cookie: ada }).notes.create(content)).id
  })

  test.each(['{', '[]', 'null'])('validates the body %s last', async (body) => {
    const path = `/api/notes/${id}${operation}`

    const refused = [
      await call('POST', path, body),
      await call('POST', `/api/notes/abc${operation}`, body, { cookie: eve }),
      await call('POST', path, body, { cookie: eve }),
      await call('POST', path, body, { cookie: ada }),
    ]

    expect(refused.map(({ status }) => status)).toEqual([401, 404, 403, 400])
  })
})

describe('notes.update', () => {
  let ada: Client
  beforeAll(async () => {
    ada = createRestClient(service.origin, { headers: { cookie: await service.signIn(newEmail()) } })
    await ada.notes.create({ title: 'Kept', body: '' })
  })

  test.each(['reset', '', '.', '..', '../tasks', 'a\0b', '\ud800'])(
    'over REST treats %j as an absent note',
    async (id) => {
      await expect(ada.notes.update({ id, title: 'x', body: '' })).rejects.toMatchObject({
        code: 'NOT_FOUND',
        defined: true,
      })

      expect((await ada.notes.list()).notes).toMatchObject([{ title: 'Kept' }])
    },
  )
})
