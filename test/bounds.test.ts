import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { isBlank } from '../engine/contract/schemas.ts'
import { safe } from '../contract/client.ts'
import { AddNote } from '../contract/legacy-notes.ts'
import { NoteInput } from '../contract/notes-schemas.ts'
import { CreateTask } from '../contract/tasks.ts'
import { notes } from '../db/notes.ts'
import { tasks } from '../db/tasks.ts'
import { sampleNotes } from '../src/samples/notes.ts'
import { sampleTasks } from '../src/samples/tasks.ts'
import { createFetch, signInOverHttp } from '../engine/test/fixtures/http.ts'
import { describeTransports, newEmail, startService } from './fixtures/service.ts'
import { registerApp } from '../engine/test/fixtures/oauth-app.ts'

const service = await startService()
const { db } = service.services
const call = createFetch(service)

const refusal = (path: string, message: string) => ({
  code: 'BAD_REQUEST',
  status: 400,
  data: { issues: [{ path, message }] },
})

const characters = ['x', '漢', '🌻']

describeTransports(service, ({ person }) => {
  describe('tasks.create', () => {
    test.each(characters)('accepts 500 and 10,000 code points of %s, and rejects more', async (character) => {
      const ada = await person()
      const [title, description] = [character.repeat(500), character.repeat(10_000)]

      const task = await ada.tasks.create({ taskTitle: title, taskDesc: description })
      const long = await safe(ada.tasks.create({ taskTitle: title + character }))
      const wide = await safe(ada.tasks.create({ taskTitle: 'x', taskDesc: description + character }))

      expect(task).toMatchObject({ title, description })
      expect(long.error).toMatchObject(refusal('taskTitle', 'Must have at most 500 characters'))
      expect(wide.error).toMatchObject(refusal('taskDesc', 'Must have at most 10000 characters'))
    })
  })

  describe('tasks.update', () => {
    test.each(characters)('accepts 500 and 10,000 code points of %s, and rejects more', async (character) => {
      const ada = await person()
      const { id } = await ada.tasks.create({ taskTitle: 'x' })
      const [title, description] = [character.repeat(500), character.repeat(10_000)]

      const task = await ada.tasks.update({ id, title, description })
      const long = await safe(ada.tasks.update({ id, title: title + character }))
      const wide = await safe(ada.tasks.update({ id, description: description + character }))

      expect(task).toMatchObject({ title, description })
      expect(long.error).toMatchObject(refusal('title', 'Must have at most 500 characters'))
      expect(wide.error).toMatchObject(refusal('description', 'Must have at most 10000 characters'))
      expect(await ada.tasks.get({ id })).toEqual(task)
    })
  })

  describe('rows of an earlier release with texts that exceed the limits', () => {
    test('can be listed, read, changed and exported', async () => {
      const ada = await person()
      const { id: userId } = await ada.account.get()
      const long = 'x'.repeat(1_000_000)
      const kept = { userId, title: long, description: long }
      const [task] = await db.insert(tasks).values(kept).returning()
      const uuid = crypto.randomUUID()
      await db.insert(notes).values({ uuid, userId, title: '', body: long })
      const id = task?.id ?? 0

      const shown = { id, title: long, description: long }
      expect((await ada.tasks.list()).tasks).toMatchObject([shown])
      expect(await ada.tasks.get({ id })).toMatchObject(shown)
      expect(await ada.tasks.update({ id, status: 'completed' })).toMatchObject(shown)
      expect((await ada.notes.list()).notes).toMatchObject([{ id: uuid, title: '', body: long }])
      expect((await ada.legacyNotes.list()).notes).toMatchObject([{ text: long }])
      expect(await ada.notes.update({ id: uuid, title: 'x', body: 'x' })).toMatchObject({ body: 'x' })
      expect((await ada.account.export()).tasks).toMatchObject([shown])
    })
  })
})

describe('an input', () => {
  const unit = fc.oneof(fc.constantFrom('x', ' ', '\n', '🌻'), fc.string({ unit: 'binary', maxLength: 1 }))
  const lengths = fc.constantFrom(
    0,
    1,
    2,
    119,
    120,
    121,
    499,
    500,
    501,
    3999,
    4000,
    4001,
    9999,
    10_000,
    10_001,
  )
  const texts = fc
    .tuple(unit, lengths)
    .map(([unit, length]) => unit.repeat(length))
    .filter((text) => !text.includes('\0'))
  const size = (text: string) => Array.from(text).length

  test('is valid if and only if its number of code points is within the limits', () => {
    const law = fc.property(texts, (text) => {
      const isTask = size(text) >= 1 && size(text) <= 500
      expect(CreateTask.safeParse({ taskTitle: text }).success).toBe(isTask)
      expect(CreateTask.safeParse({ taskTitle: 'x', taskDesc: text }).success).toBe(size(text) <= 10_000)
      const isNote = !isBlank(text) && size(text) <= 4000
      expect(AddNote.safeParse({ newNote: text }).success).toBe(isNote)
      expect(NoteInput.safeParse({ title: 'x', body: text }).success).toBe(size(text) <= 4000)
    })

    fc.assert(law, { numRuns: 300 })
  })
})

/** Texts that show nothing. */
const blankTexts = [
  '\u200b',
  '\ufeff \u2060',
  '\u00ad',
  '\u3164',
  '\u2800\n',
  '\u202e',
  '\u{e0041}',
  '\u180e',
]

describe('a text that shows nothing', () => {
  test.each(blankTexts)('is refused as title, note and name: %j', async (text) => {
    const cookie = await service.signIn(newEmail())
    const refused = { status: 400, body: { code: 'BAD_REQUEST' } }

    expect(await call('POST', '/api/notes', { title: text, body: '' }, { cookie })).toMatchObject(refused)
    expect(await call('POST', '/api/notes', { newNote: text }, { cookie })).toMatchObject(refused)
    expect(await call('POST', '/api/reservations', { name: text, guests: 2 })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_RESERVATION', data: { name: expect.any(String) } },
    })
  })

  test('is kept before and inside a visible text, which the first form returns unchanged', async () => {
    const ada = await service.person()
    const title = 'Persian \u200c joiner'
    const body = `\u200b\n\u200f${title}\nmore`

    const { text } = await ada.legacyNotes.create({ newNote: body })
    const [note] = (await ada.notes.list()).notes

    expect(text).toBe(body)
    expect(note).toMatchObject({ title, body })
    expect(await ada.notes.update({ id: note?.id ?? '', title, body })).toMatchObject({ title, body })
  })
})

describe('seed', () => {
  test('adds only data that the contract accepts', () => {
    for (const { title, description } of Object.values(sampleTasks).flat())
      expect(CreateTask.parse({ taskTitle: title, taskDesc: description ?? undefined })).toBeDefined()
    for (const { title, body } of Object.values(sampleNotes).flat())
      expect(NoteInput.parse({ title, body })).toEqual({ title, body })
  })
})

describe.each<[string, (id: number) => string | number]>([
  ['with leading zeros', (id) => `0${id}`],
  ['with an exponent', () => 1e21],
])('an id %s', (_, notationOf) => {
  test('is rejected over every protocol', async () => {
    const { cookie } = await signInOverHttp(service, newEmail())
    const ada = service.client({ cookie })
    const task = await ada.tasks.create({ taskTitle: 'Write' })
    const id = notationOf(task.id)
    const app = await registerApp(service)
    const { access_token } = await app.obtainTokens(cookie, {
      resource: `${service.services.settings.baseUrl}/mcp`,
    })
    const bearer = { authorization: `Bearer ${access_token}`, accept: 'application/json, text/event-stream' }

    const answers = [
      await call('GET', `/api/tasks/${id}`, undefined, { cookie }),
      await call('PATCH', `/api/tasks/${id}`, { title: 'x' }, { cookie }),
      await call('PATCH', `/api/tasks/${id}`, { title: 'x' }, { cookie, 'if-match': '*' }),
      await call('DELETE', `/api/tasks/${id}`, undefined, { cookie }),
      await call('POST', '/rpc/tasks/get', { json: { id } }, { cookie }),
      await call('POST', '/rpc/tasks/update', { json: { id, title: 'x' } }, { cookie }),
      await call('POST', '/rpc/tasks/delete', { json: { id } }, { cookie }),
    ]
    const params = { name: 'tasks_delete', arguments: { id } }
    const tool = await call('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, bearer)

    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 400))
    expect(JSON.stringify(tool.body)).toContain('Must be a whole number')
    expect(await ada.tasks.get({ id: task.id })).toEqual(task)
  })
})
