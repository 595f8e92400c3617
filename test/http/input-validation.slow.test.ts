import { describe, expect, test } from 'vitest'

import { createFetch, errorBody, validationError } from '../../engine/test/fixtures/http.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService()
const call = createFetch(service)

const signIn = async () => ({ cookie: await service.signIn(newEmail()) })

const malformedJson = errorBody(400, 'BAD_REQUEST', 'The body is not valid JSON')
const notAnObject = errorBody(400, 'BAD_REQUEST', 'The body must be a JSON object')
const noteNotFound = errorBody(404, 'NOT_FOUND', 'There is no such note', true)
const taskNotFound = errorBody(404, 'NOT_FOUND', 'Task not found', true)
const wrongType = errorBody(415, 'UNSUPPORTED_MEDIA_TYPE', 'A body must be application/json')
const unstorable = 'Contains a character that cannot be stored'

/** Sends bytes without a content type, unless the headers have one. */
async function sendBytes(path: string, body: Uint8Array<ArrayBuffer>, headers: Record<string, string>) {
  const response = await fetch(service.origin + path, { method: 'POST', body, headers })
  return { status: response.status, body: await response.json() }
}

describe('a body', () => {
  test.each([
    ['is missing', undefined, validationError('', 'Invalid input: expected object, received undefined')],
    ['is malformed', '{"taskTitle":', malformedJson],
    ['has text after the JSON value', '{"taskTitle":"One"} x', malformedJson],
    ['is blank', ' ', malformedJson],
    ['is a list', '[]', notAnObject],
    ['is a string', '"x"', notAnObject],
    ['is null', 'null', notAnObject],
    ['is a number', '1', notAnObject],
    ['is empty', '{}', validationError('taskTitle', 'Invalid input: expected string, received undefined')],
    [
      'contains null',
      '{"taskTitle":null}',
      validationError('taskTitle', 'Invalid input: expected string, received null'),
    ],
    [
      'contains another type',
      '{"taskTitle":1}',
      validationError('taskTitle', 'Invalid input: expected string, received number'),
    ],
    [
      'is not UTF-8',
      new Uint8Array([...Buffer.from('{"taskTitle":"'), 0xff, 0xfe, ...Buffer.from('"}')]),
      malformedJson,
    ],
  ])('is rejected when it %s', async (_, body, expected) => {
    const ada = await signIn()
    const json = { 'content-type': 'application/json', ...ada }

    const answer =
      body instanceof Uint8Array
        ? await sendBytes('/api/tasks', body, json)
        : await call('POST', '/api/tasks', body, json)

    expect(answer).toMatchObject({ status: 400 })
    expect(answer.body).toEqual(expected)
    expect(await call('GET', '/api/tasks', undefined, ada)).toMatchObject({ body: { taskCount: 0 } })
  })

  test.each([
    ['a form', 'application/x-www-form-urlencoded', 'taskTitle=One'],
    ['plain text', 'text/plain', '{"taskTitle":"One"}'],
    ['a type that begins like JSON', 'application/jsonp', '{"taskTitle":"One"}'],
    ['another JSON type', 'application/ld+json', '{"taskTitle":"One"}'],
    ['multipart', 'multipart/form-data; boundary=x', '--x--'],
  ])('is rejected with the content type of %s', async (_, type, body) => {
    const ada = await signIn()

    const answer = await call('POST', '/api/tasks', body, { ...ada, 'content-type': type })

    expect(answer).toMatchObject({ status: 415, body: wrongType })
  })

  test('is rejected without a content type', async () => {
    const ada = await signIn()

    const answer = await sendBytes('/api/tasks', new Uint8Array(Buffer.from('{"taskTitle":"One"}')), ada)

    expect(answer).toEqual({ status: 415, body: wrongType })
  })

  test.each(['application/json; charset=utf-8', 'Application/JSON', 'application/json ;x=y'])(
    'is accepted with the content type %s',
    async (type) => {
      const ada = await signIn()

      const answer = await call(
        'POST',
        '/api/tasks',
        { taskTitle: 'Ünï 🎉' },
        { ...ada, 'content-type': type },
      )

      expect(answer).toMatchObject({ status: 200, body: { title: 'Ünï 🎉' } })
    },
  )

  test.each([
    ['POST', '/api/tasks', { taskTitle: 'One' }],
    ['POST', '/api/notes', { title: 'One', body: '' }],
    ['POST', '/api/notes', { newNote: 'One' }],
    ['POST', '/api/counter/set', { inputValue: 1 }],
    ['POST', '/api/counter/reset', {}],
    ['POST', '/api/reservations', { name: 'Ada', guests: 2 }],
  ])('can have unknown fields, which %s %s ignores', async (method, path, body) => {
    const ada = await signIn()
    const unknown = { id: 7, userId: 'x', status: 'completed', mine: false, nested: { deep: [1] } }
    const text = `${JSON.stringify({ ...body, ...unknown }).slice(0, -1)},"__proto__":{"title":"Odd"}}`

    const answer = await call(method, path, text, ada)

    expect(answer.status).toBe(200)
    expect(answer.body).not.toMatchObject({ nested: expect.anything() })
    expect(answer.body).not.toMatchObject({ userId: 'x' })
    expect(answer.body).not.toMatchObject({ status: 'completed' })
  })

  test('can be empty or missing for an operation without input', async () => {
    const ada = await signIn()

    for (const body of [undefined, {}])
      expect(await call('POST', '/api/tasks/reset', body, ada)).toMatchObject({
        status: 200,
        body: { taskCount: 0 },
      })
  })

  test.each(['[]', '{bad'])('is rejected as %s even for an operation without input', async (body) => {
    const ada = await signIn()

    const answer = await call('POST', '/api/counter/increment', body, ada)

    expect(answer).toMatchObject({ status: 400, body: body === '[]' ? notAnObject : malformedJson })
  })
})

describe('a text', () => {
  const texts = [
    ['POST', '/api/tasks', 'taskTitle', {}],
    ['POST', '/api/tasks', 'taskDesc', { taskTitle: 'One' }],
    ['PATCH', '/api/tasks/TASK', 'title', {}],
    ['PATCH', '/api/tasks/TASK', 'description', {}],
    ['POST', '/api/notes', 'title', { body: '' }],
    ['POST', '/api/notes', 'body', { title: 'One' }],
    ['POST', '/api/notes/NOTE', 'title', { body: '' }],
    ['POST', '/api/notes/NOTE', 'body', { title: 'One' }],
    ['POST', '/api/notes', 'newNote', {}],
    ['POST', '/api/sessions/revoke', 'revokeSessionToken', {}],
    ['POST', '/api/reservations', 'name', { guests: 2 }],
  ] as const

  /** Creates a user with a task and a note. `fill` replaces TASK and NOTE in a path with the ids of these rows. */
  async function createOwner() {
    const ada = await signIn()
    const idOf = async (path: string, body: object) => {
      const { body: created } = await call('POST', path, body, ada)
      return String((created as { id: unknown }).id)
    }
    const task = await idOf('/api/tasks', { taskTitle: 'One' })
    const note = await idOf('/api/notes', { title: 'One', body: '' })
    return { ada, fill: (path: string) => path.replace('TASK', task).replace('NOTE', note) }
  }

  test.each(texts)(
    'is rejected with NUL or half a surrogate pair: %s %s %s',
    async (method, path, field, rest) => {
      const { ada, fill } = await createOwner()

      for (const text of ['a\0b', '\ud83d', '\ude00\ud83d'])
        expect((await call(method, fill(path), { ...rest, [field]: text }, ada)).body).toEqual(
          validationError(field, unstorable),
        )
    },
  )

  test.each(texts)('is rejected as a value of another type: %s %s %s', async (method, path, field, rest) => {
    const { ada, fill } = await createOwner()

    for (const [value, type] of [
      [1, 'number'],
      [true, 'boolean'],
      [['x'], 'array'],
      [{}, 'object'],
    ] as const)
      expect((await call(method, fill(path), { ...rest, [field]: value }, ada)).body).toEqual(
        validationError(field, `Invalid input: expected string, received ${type}`),
      )
  })

  test.each([
    ['POST', '/api/tasks', 'taskTitle', {}],
    ['PATCH', '/api/tasks/TASK', 'title', {}],
    ['POST', '/api/notes', 'title', { body: '' }],
    ['POST', '/api/notes', 'newNote', {}, 'Must not be blank'],
    ['POST', '/api/sessions/revoke', 'revokeSessionToken', {}],
  ])(
    'is rejected when it is empty: %s %s %s',
    async (method, path, field, rest, message = 'Must have at least 1 character') => {
      const { ada, fill } = await createOwner()

      const { body } = await call(method, fill(path), { ...rest, [field]: '' }, ada)

      expect(body).toEqual(validationError(field, message))
    },
  )

  describe.each(['/api/notes', '/api/notes/NOTE'])('of a note, at %s,', (path) => {
    test.each([
      ['title', 121, 'x', 'Must have at most 120 characters'],
      ['title', 121, '🎉', 'Must have at most 120 characters'],
      ['body', 4001, 'x', 'Must have at most 4000 characters'],
      ['body', 4001, '🎉', 'Must have at most 4000 characters'],
    ])('is rejected as a %s of %d × %s', async (field, length, character, message) => {
      const { ada, fill } = await createOwner()
      const note = { title: 'One', body: '', [field]: character.repeat(length) }

      expect((await call('POST', fill(path), note, ada)).body).toEqual(validationError(field, message))
    })

    test.each(['x', '🎉'])('can have the maximum length, with the character %s', async (character) => {
      const { ada, fill } = await createOwner()
      const note = { title: character.repeat(120), body: character.repeat(4000) }

      expect(await call('POST', fill(path), note, ada)).toMatchObject({ status: 200, body: note })
    })

    test('is trimmed before its length is checked as a title, and unchanged as a body', async () => {
      const { ada, fill } = await createOwner()
      const title = 'x'.repeat(120)

      const padded = await call('POST', fill(path), { title: `  ${title}\n`, body: ' b ' }, ada)
      const blank = await call('POST', fill(path), { title: ' \t ', body: '' }, ada)

      expect(padded).toMatchObject({ status: 200, body: { title, body: ' b ' } })
      expect(blank.body).toEqual(validationError('title', 'Must have at least 1 character'))
    })
  })

  test.each([
    ['is too long', `${'a'.repeat(243)}@example.com`, 'Too big: expected string to have <=254 characters'],
    ['has no @', 'ada', 'Invalid email address'],
    ['begins with a dot', '.ada@example.com', 'Invalid email address'],
    ['has a NUL', 'a\0@example.com', 'Invalid email address'],
    ['is not ASCII', 'ädä@example.com', 'Invalid email address'],
  ])('is rejected as an e-mail address that %s', async (_, email, message) => {
    const { ada, fill } = await createOwner()

    const { body } = await call('POST', fill('/api/notes/NOTE/share'), { email, role: 'reader' }, ada)

    expect(body).toEqual(validationError('email', message))
  })

  test.each(['owner', 'constructor', '', 1, null])('is rejected as the role %j', async (role) => {
    const { ada, fill } = await createOwner()

    const { body } = await call('POST', fill('/api/notes/NOTE/share'), { email: newEmail(), role }, ada)

    expect(body).toEqual(validationError('role', 'Invalid option: expected one of "reader"|"editor"'))
  })
})

describe('a number', () => {
  test.each([
    ['9007199254740992', 'Too big: expected int to be <=9007199254740991'],
    ['-9007199254740992', 'Too small: expected int to be >=-9007199254740991'],
    ['1e400', 'Invalid input: expected number, received Infinity'],
    ['1.5', 'Invalid input: expected int, received number'],
    ['"1"', 'Invalid input: expected number, received string'],
    ['null', 'Invalid input: expected number, received null'],
  ])('is rejected as a count when it is %s', async (value, message) => {
    const { body } = await call('POST', '/api/counter/set', `{"inputValue":${value}}`)

    expect(body).toEqual(validationError('inputValue', message))
  })

  test.each([Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 0])('can be %d', async (inputValue) => {
    const answer = await call('POST', '/api/counter/set', { inputValue })

    expect(answer).toMatchObject({ status: 200, body: { count: inputValue } })
  })

  test.each([
    ['1e400', 'Invalid input: expected number, received Infinity'],
    ['"2"', 'Invalid input: expected number, received string'],
    ['null', 'Invalid input: expected number, received null'],
  ])('is rejected as a number of guests when it is %s', async (guests, message) => {
    const { body } = await call('POST', '/api/reservations', `{"name":"Ada","guests":${guests}}`)

    expect(body).toEqual(validationError('guests', message))
  })

  test.each([0, 21, 1.5, -1, 2 ** 53])('breaks a rule of reservations when it is %d', async (guests) => {
    const answer = await call('POST', '/api/reservations', { name: ' ', guests })

    expect(answer.body).toEqual({
      ...errorBody(400, 'INVALID_RESERVATION', 'The reservation breaks a rule', true),
      data: { name: expect.any(String), guests: expect.any(String) },
    })
  })
})

describe('an id', () => {
  const malformed = [
    '0x1',
    '012',
    '00',
    '1.5',
    'abc',
    '%20',
    '-1',
    '+1',
    '1e3',
    '1e400',
    '٣',
    '1%2F2',
    '%FF',
    'null',
    'NaN',
  ]

  test.each(malformed)('is rejected as %s', async (id) => {
    const ada = await signIn()

    for (const [method, path, body] of [
      ['GET', `/api/tasks/${id}`],
      ['PATCH', `/api/tasks/${id}`, {}],
      ['DELETE', `/api/tasks/${id}`],
      ['DELETE', `/api/notes/${id}`],
    ] as const)
      expect((await call(method, path, body, ada)).body).toEqual(
        validationError('id', 'Must be a whole number'),
      )
  })

  test.each(['0', '9007199254740992', '9223372036854775808', '9'.repeat(400)])(
    'is treated as an unknown id, not as a malformed id: %s',
    async (id) => {
      const ada = await signIn()

      expect((await call('GET', `/api/tasks/${id}`, undefined, ada)).body).toEqual(taskNotFound)
      expect((await call('PATCH', `/api/tasks/${id}`, {}, ada)).body).toEqual(taskNotFound)
      for (const path of ['/api/tasks', '/api/notes'])
        expect(await call('DELETE', `${path}/${id}`, undefined, ada)).toMatchObject({
          status: 200,
          body: { success: true },
        })
    },
  )

  test.each([...malformed, '9007199254740992', crypto.randomUUID(), 'x'.repeat(4000)])(
    'of a note is treated as an unknown id, not as a malformed id: %s',
    async (id) => {
      const ada = await signIn()

      for (const [path, body] of [
        ['', { title: 'One', body: '' }],
        ['/share', { email: newEmail(), role: 'reader' }],
        ['/delete', {}],
      ] as const)
        expect((await call('POST', `/api/notes/${id}${path}`, body, ada)).body).toEqual(noteNotFound)
    },
  )

  test('is the id in the path, not an id in the body', async () => {
    const ada = await signIn()
    const make = async (taskTitle: string) =>
      (await call('POST', '/api/tasks', { taskTitle }, ada)).body as { id: number }
    const [first, second] = [await make('One'), await make('Two')]

    const answer = await call('PATCH', `/api/tasks/${first.id}`, { id: second.id, title: 'Three' }, ada)

    expect(answer.body).toMatchObject({ id: first.id, title: 'Three' })
    expect(await call('GET', `/api/tasks/${second.id}`, undefined, ada)).toMatchObject({ body: second })
  })
})

describe('a query', () => {
  test.each(['status=nope', 'status=', 'status=pending&status=completed', 'status[]=pending', 'status[a]=b'])(
    'is rejected as %s',
    async (query) => {
      const ada = await signIn()

      const { body } = await call('GET', `/api/tasks?${query}`, undefined, ada)

      expect(body).toEqual(
        validationError('status', 'Invalid option: expected one of "pending"|"in_progress"|"completed"'),
      )
    },
  )

  test.each(['', 'x=y', '__proto__[status]=x', 'constructor=1', '%', '%ff', '&&'])(
    'is ignored as %s',
    async (query) => {
      const ada = await signIn()

      const answer = await call('GET', `/api/tasks?${query}`, undefined, ada)

      expect(answer).toMatchObject({ status: 200, body: { tasks: [], taskCount: 0 } })
    },
  )
})
