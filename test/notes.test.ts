import { beforeAll, describe, expect, test } from 'vitest'

import { type Client, createRestClient, type Outputs, pages, safe } from '../contract/client.ts'
import { createFetch } from './fixtures/http.ts'
import { describeTransports, newEmail, startService } from './fixtures/service.ts'

const service = await startService()
const call = createFetch(service)

const everything = { VIEW_NOTE: true, EDIT_NOTE: true, SHARE_NOTE: true, DELETE_NOTE: true }
const nothing = { VIEW_NOTE: false, EDIT_NOTE: false, SHARE_NOTE: false, DELETE_NOTE: false }
const reading = { ...nothing, VIEW_NOTE: true }
const editing = { ...reading, EDIT_NOTE: true }

const content = { title: 'Plan', body: 'One page' }
const emoji = '🌻'

const notFound = { code: 'NOT_FOUND', defined: true, status: 404, message: 'There is no such note' }
const forbidden = {
  code: 'FORBIDDEN',
  defined: true,
  status: 403,
  message: 'You may not do this to the note',
}
const badRequest = (path: string) => ({
  code: 'BAD_REQUEST',
  defined: false,
  status: 400,
  data: { issues: [{ path, message: expect.any(String) }] },
})

/** Waits until the time of the database, in milliseconds, has changed. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 10))

type Note = Outputs['notes']['create']

const viewed = async (client: Client, id: string) =>
  (await client.notes.list()).notes.find((note) => note.id === id)

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
  /**
   * Creates Ada and Bob. Ada creates a note and shares it with Bob. Returns both people, Bob’s address, and the note in
   * the response to Ada.
   */
  async function sharing(role: 'reader' | 'editor') {
    const email = newEmail()
    const [ada, bob] = await Promise.all([person(), person(email)])
    const { id } = await ada.notes.create(content)
    return { ada, bob, email, note: await ada.notes.share({ id, email, role }) }
  }

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

      expect(await ada.notes.share({ id, email: ` ${email} `, role: 'reader' })).toMatchObject({
        sharedWith: 1,
      })
    })

    test.each([
      ['email', { email: '', role: 'reader' }],
      ['email', { email: 'ada', role: 'reader' }],
      ['email', { email: 'ada@localhost', role: 'reader' }],
      ['email', { email: 'a da@example.com', role: 'reader' }],
      ['email', { email: `${'a'.repeat(243)}@example.com`, role: 'reader' }],
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
      ['email', {}],
    ])('rejects an invalid %s (%#)', async (path, input) => {
      const { ada, note } = await sharing('reader')

      const answer = ada.notes.unshare({ id: note.id, ...input } as never)

      await expect(answer).rejects.toMatchObject(badRequest(path))
      expect(await viewed(ada, note.id)).toEqual(note)
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
