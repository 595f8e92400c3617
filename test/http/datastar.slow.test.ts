import { createParser, type EventSourceMessage } from 'eventsource-parser'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { isBlank } from '../../engine/contract/schemas.ts'
import { ErrorBody } from '../../engine/contract/errors.ts'
import { type Answer, createFetch } from '../../engine/test/fixtures/http.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService()
const call = createFetch(service)
const newCaller = async () => ({ cookie: await service.signIn(newEmail()) })

const DATASTAR = { 'datastar-request': 'true' }
/** The headers of the client library of Datastar. */
const LIBRARY = { ...DATASTAR, accept: 'text/event-stream, text/html, application/json' }
const PLACEHOLDER = '<li id="no-notes">No notes yet</li>'

/** Parses the server-sent events of a response as a browser does. */
function eventsOf(answer: Answer) {
  const events: EventSourceMessage[] = []
  const parser = createParser({
    onEvent: (event) => events.push(event),
    onError: (error) => {
      throw error
    },
  })
  parser.feed(String(answer.body))
  expect(answer.headers.get('content-type')).toBe('text/event-stream')
  expect(answer.status).toBe(200)
  return events
}

/**
 * Returns the changes of a page that a response contains. In Datastar, each data line of an event starts with a keyword
 * (`selector`, `mode`, `elements`, `signals`). This function joins the lines of each keyword.
 */
function patchOf(answer: Answer) {
  const events = eventsOf(answer)
  expect(events.map(({ event }) => event)).toEqual(['datastar-patch-elements', 'datastar-patch-signals'])
  const words = events
    .flatMap(({ data }) => data.split('\n'))
    .map((line) => /^(\w+) ?([^]*)$/.exec(line) ?? [])
  const join = (name: string) => words.flatMap(([, key, rest]) => (key === name ? [rest] : [])).join('\n')
  expect(new Set(words.map(([, key]) => key))).toEqual(new Set(['selector', 'mode', 'elements', 'signals']))
  return {
    selector: join('selector'),
    mode: join('mode'),
    html: join('elements'),
    signals: JSON.parse(join('signals')) as unknown,
  }
}

/** Returns the rendered note. The button deletes the note. */
const item = (id: number, html: string) =>
  `<li id="note-${id}">${html} <button type="button" aria-label="Delete note ${id}" data-on:click="@delete('/api/notes/${id}', {payload: {}})">Delete</button></li>`
const ITEM = /^<li id="note-(\d+)">([^]*?) <button [^]*<\/li>$/

/** Returns the text of a rendered list with one note. The note must consist of the text and the button. */
function textOf(html: string) {
  const [, id, text = ''] = ITEM.exec(html) ?? []
  expect(html).toBe(item(Number(id), text))
  return text
}

const add = async (newNote: string, headers: Record<string, string>) => {
  const { body } = await call('POST', '/api/notes', { newNote }, headers)
  return (body as { id: number }).id
}

describe('counter.fragment', () => {
  test('patches the counter and its signal', async () => {
    await call('POST', '/api/counter/set', { inputValue: -42 })

    expect(patchOf(await call('GET', '/api/counter/fragment', undefined, DATASTAR))).toEqual({
      selector: '#server-fragment',
      mode: 'inner',
      html: '<output id="count">-42</output>',
      signals: { count: -42 },
    })
  })

  test('returns JSON to other callers', async () => {
    await call('POST', '/api/counter/set', { inputValue: 7 })

    const answer = await call('GET', '/api/counter/fragment')

    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.body).toEqual({
      count: 7,
      html: '<output id="count">7</output>',
      renderedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
  })
})

describe('a caller', () => {
  const typeOf = async (headers: Record<string, string>) => {
    const answer = await call('GET', '/api/counter/fragment', undefined, headers)
    expect(answer.headers.get('vary')).toContain('Origin')
    return answer.headers.get('content-type')
  }

  test.each<Record<string, string>>([
    { 'datastar-request': 'true' },
    { 'datastar-request': 'true', accept: 'application/json' },
    { accept: 'text/event-stream' },
    { accept: 'text/event-stream, text/html, application/json' },
    { accept: 'text/html;q=0.5, text/event-stream' },
    { accept: 'text/event-stream;charset=utf-8' },
  ])('gets events for %j', async (headers) => {
    expect(await typeOf(headers)).toBe('text/event-stream')
  })

  test.each<Record<string, string>>([
    {},
    { 'datastar-request': 'false' },
    { 'datastar-request': '' },
    { accept: '*/*' },
    { accept: 'text/*' },
    { accept: 'application/json, text/event-stream' },
    { accept: 'text/event-stream;q=0.5, application/json' },
    { accept: 'text/event-stream;q=0' },
    { accept: 'nonsense' },
  ])('gets JSON for %j', async (headers) => {
    expect(await typeOf(headers)).toBe('application/json')
  })

  test.each([
    ['/api/notes', 'JSON', {}],
    ['/api/notes', 'events', DATASTAR],
    ['/api/counter/fragment', 'JSON', {}],
    ['/api/counter/fragment', 'events', DATASTAR],
  ])('gets Vary from %s for the header that decided: %s', async (path, _, headers) => {
    const ada = await newCaller()

    const answer = await call('GET', path, undefined, { ...ada, ...headers })

    expect(answer.headers.get('vary')).toContain('Accept, Datastar-Request')
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  test.each([
    ['GET', '/api/status'],
    ['GET', '/api/counter'],
    ['POST', '/api/counter/increment'],
    ['GET', '/api/tasks'],
    ['POST', '/api/notes/reset'],
    ['GET', '/api/sessions'],
  ])('gets JSON from %s %s nevertheless', async (method, path) => {
    const ada = await newCaller()

    const answer = await call(method, path, undefined, { ...ada, ...DATASTAR })

    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/json')
  })
})

describe('legacyNotes.list', () => {
  test('patches the items, newest first, and their number', async () => {
    const ada = await newCaller()
    const [first, second] = [await add('One', ada), await add('Two', ada)]

    expect(patchOf(await call('GET', '/api/notes', undefined, { ...ada, ...DATASTAR }))).toEqual({
      selector: '#notes-list',
      mode: 'inner',
      html: `${item(second, 'Two')}\n${item(first, 'One')}`,
      signals: { noteCount: 2 },
    })
  })

  test('patches a placeholder into an empty list', async () => {
    const ada = await newCaller()

    expect(patchOf(await call('GET', '/api/notes', undefined, { ...ada, ...DATASTAR }))).toMatchObject({
      html: PLACEHOLDER,
      signals: { noteCount: 0 },
    })
  })

  test('ignores the signals in the query', async () => {
    const ada = await newCaller()
    const signals = encodeURIComponent(JSON.stringify({ newNote: '', noteCount: 99, id: 'x' }))

    const answer = await call('GET', `/api/notes?datastar=${signals}`, undefined, { ...ada, ...DATASTAR })

    expect(patchOf(answer)).toMatchObject({ signals: { noteCount: 0 } })
  })

  test('does not show notes of other people', async () => {
    const [ada, bob] = [await newCaller(), await newCaller()]
    await add('Mine', ada)

    expect(patchOf(await call('GET', '/api/notes', undefined, { ...bob, ...DATASTAR }))).toMatchObject({
      html: PLACEHOLDER,
    })
  })

  test('patches at most the requested number of notes, and counts all notes', async () => {
    const ada = await newCaller()
    await add('One', ada)
    const [second, third] = [await add('Two', ada), await add('Three', ada)]

    const answer = await call('GET', '/api/notes?limit=2', undefined, { ...ada, ...DATASTAR })

    expect(patchOf(answer)).toMatchObject({
      html: `${item(third, 'Three')}\n${item(second, 'Two')}`,
      signals: { noteCount: 3 },
    })
    expect(answer.headers.get('link')).toBeNull()
  })

  test('shows a note of the second form with its title', async () => {
    const ada = await newCaller()
    await call('POST', '/api/notes', { title: 'Title', body: 'Body' }, ada)

    const { html } = patchOf(await call('GET', '/api/notes', undefined, { ...ada, ...DATASTAR }))

    expect(textOf(html)).toBe('Title\n\nBody')
  })
})

describe('legacyNotes.create', () => {
  test('patches the new list, and clears the input field', async () => {
    const ada = await newCaller()
    const first = await add('One', ada)

    const patch = patchOf(await call('POST', '/api/notes', { newNote: 'Two' }, { ...ada, ...DATASTAR }))

    const second = Number(/\d+/.exec(patch.html)?.[0])
    expect(patch).toEqual({
      selector: '#notes-list',
      mode: 'inner',
      html: `${item(second, 'Two')}\n${item(first, 'One')}`,
      signals: { noteCount: 2, newNote: '' },
    })
  })

  test('accepts all signals of a page, and stores only the note', async () => {
    const ada = await newCaller()
    const signals = { newNote: 'One', title: 'No', body: 'No', noteCount: 99, count: 1, inputValue: 3 }

    const patch = patchOf(await call('POST', '/api/notes', signals, { ...ada, ...DATASTAR }))

    expect(textOf(patch.html)).toBe('One')
    expect(patch.signals).toEqual({ noteCount: 1, newNote: '' })
  })

  test.each([
    ['<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
    ["\"><img src=x onerror='x'>", '&quot;&gt;&lt;img src=x onerror=&#39;x&#39;&gt;'],
    ['&lt; &amp;', '&amp;lt; &amp;amp;'],
    ['one\ntwo\n\nfour', 'one\ntwo\n\nfour'],
    ['one\r\ntwo', 'one&#13;\ntwo'],
    ['one\rtwo', 'one&#13;two'],
    ['x\r\r\n\n\r', 'x&#13;&#13;\n\n&#13;'],
    ['a\n\nevent: datastar-patch-signals\ndata: signals {"x":1}\n\n', undefined],
    ['\ndata: selector body\ndata: mode outer\nid: 1\nretry: 1\n: note', undefined],
    ['x</li></ul>', 'x&lt;/li&gt;&lt;/ul&gt;'],
    ['a\u2028b\u2029c\u0085d\ufeff', 'a\u2028b\u2029c\u0085d\ufeff'],
    [' leading and trailing ', ' leading and trailing '],
    ['${x} {{y}} 🎉', '${x} {{y}} 🎉'],
  ])('escapes %j as text', async (text, html) => {
    const ada = await newCaller()

    const answer = await call('POST', '/api/notes', { newNote: text }, { ...ada, ...DATASTAR })

    expect(textOf(patchOf(answer).html)).toBe(html ?? text.replaceAll('"', '&quot;'))
    expect(answer.body).not.toContain('\r')
    expect(patchOf(answer).signals).toEqual({ noteCount: 1, newNote: '' })
  })

  test('delivers any text to the page unchanged, and nothing else', async () => {
    const ada = await newCaller()
    const unit = fc.oneof(
      fc.constantFrom('\r', '\n', '\r\n', '<', '>', '&', '"', "'", 'data: ', 'event: ', ':', ' ', '&#13;'),
      fc.string({ unit: 'binary', maxLength: 3 }).map((some) => some.replaceAll('\0', '')),
    )
    const texts = fc
      .array(unit, { minLength: 1 })
      .map((units) => units.join(''))
      .filter((text) => !isBlank(text))

    const law = fc.asyncProperty(texts, async (newNote) => {
      await call('POST', '/api/notes/reset', {}, ada)
      const { html } = patchOf(await call('POST', '/api/notes', { newNote }, { ...ada, ...DATASTAR }))
      const shown = textOf(html)
      expect(shown).not.toMatch(/[<>]/)
      expect(unescape(shown)).toBe(newNote)
    })

    await fc.assert(law, { numRuns: 100 })
  })
})

describe('legacyNotes.delete', () => {
  test('patches the remaining notes', async () => {
    const ada = await newCaller()
    const [first, second] = [await add('One', ada), await add('Two', ada)]
    const remove = (id: number) => call('DELETE', `/api/notes/${id}`, undefined, { ...ada, ...DATASTAR })

    expect(patchOf(await remove(first))).toEqual({
      selector: '#notes-list',
      mode: 'inner',
      html: item(second, 'Two'),
      signals: { noteCount: 1 },
    })
    expect(patchOf(await remove(second))).toMatchObject({ html: PLACEHOLDER, signals: { noteCount: 0 } })
  })

  test('patches the unchanged list if the note is absent or of another person', async () => {
    const [ada, bob] = [await newCaller(), await newCaller()]
    const id = await add('Mine', ada)

    for (const absent of [id, 987_654_321])
      expect(
        patchOf(await call('DELETE', `/api/notes/${absent}`, undefined, { ...bob, ...DATASTAR })),
      ).toMatchObject({ html: PLACEHOLDER, signals: { noteCount: 0 } })

    expect(patchOf(await call('GET', '/api/notes', undefined, { ...ada, ...DATASTAR }))).toMatchObject({
      html: item(id, 'Mine'),
    })
  })
})

describe('an error', () => {
  const refusals: [number, string, string, unknown, boolean][] = [
    [401, 'GET', '/api/notes', undefined, false],
    [401, 'POST', '/api/notes', { newNote: 'One' }, false],
    [401, 'POST', '/api/notes', '{bad', false],
    [401, 'DELETE', '/api/notes/abc', undefined, false],
    [400, 'POST', '/api/notes', { newNote: '' }, true],
    [400, 'POST', '/api/notes', { title: 'One', body: '' }, true],
    [400, 'POST', '/api/notes', { newNote: 'a\0b' }, true],
    [400, 'POST', '/api/notes', '{bad', true],
    [400, 'POST', '/api/notes', undefined, true],
    [400, 'DELETE', '/api/notes/abc', undefined, true],
    [404, 'GET', '/api/nope', undefined, true],
    [405, 'PUT', '/api/notes', undefined, true],
    [405, 'POST', '/api/counter/fragment', undefined, true],
  ]

  test.each(refusals)('is JSON: %d to %s %s with %j', async (status, method, path, body, signedIn) => {
    const who = signedIn ? await newCaller() : {}

    for (const asked of [DATASTAR, { accept: 'text/event-stream' }, LIBRARY]) {
      const answer = await call(method, path, body, { ...who, ...asked })
      expect(answer.status).toBe(status)
      expect(answer.headers.get('content-type')).toBe('application/json')
      expect(ErrorBody.strict().parse(answer.body)).toMatchObject({ status })
    }
  })

  test.each([
    ['/api/counter/set', { inputValue: 'x' }],
    ['/api/auth/sign-in/email-otp', { email: newEmail(), otp: '123456' }],
    ['/api/auth/sign-in/email-otp', { otp: '123456' }],
  ])('of %s has the same status and body as for other callers', async (path, body) => {
    const { status, body: expected } = await call('POST', path, body)

    const answer = await call('POST', path, body, LIBRARY)

    expect(answer).toMatchObject({ status, body: expected })
    expect(status).toBe(400)
  })

  test('is JSON if the service refuses the request before it reads the body', async () => {
    const headers = { ...LIBRARY, ...(await newCaller()), origin: 'https://evil.example' }

    const answer = await call('POST', '/api/notes', { newNote: 'One' }, headers)

    expect(answer.status).toBe(403)
    expect(ErrorBody.strict().parse(answer.body)).toMatchObject({ status: 403 })
  })

  test('leaves the data unchanged', async () => {
    const ada = await newCaller()
    await call('POST', '/api/notes', { newNote: 'a\0b' }, { ...ada, ...DATASTAR })

    expect(patchOf(await call('GET', '/api/notes', undefined, { ...ada, ...DATASTAR }))).toMatchObject({
      signals: { noteCount: 0 },
    })
  })
})

/** Returns the text that a browser displays for escaped HTML. */
const unescape = (html: string) =>
  html.replace(
    /&(lt|gt|quot|amp|#39|#13);/g,
    (_, name: string) => ({ lt: '<', gt: '>', quot: '"', amp: '&', '#39': "'", '#13': '\r' })[name] ?? '',
  )
