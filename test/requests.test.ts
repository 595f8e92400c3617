import { traverseContractProcedures } from '@orpc/server'
import fc from 'fast-check'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'

import { metaOf } from '../contract/base.ts'
import { ErrorBody } from '../contract/errors.ts'
import { contract } from '../contract/index.ts'
import { createFetch } from './http.ts'
import { newEmail, startService } from './service.ts'

const service = await startService()
const call = createFetch(service)

const MIB = 1024 * 1024
const FIRST_FORM = 'application/json;version=1'
const someone = async (email = newEmail()) => ({ cookie: await service.signIn(email) })

const refusal = (status: number, code: string, message: string, defined = false) => ({
  defined,
  code,
  status,
  message,
  error: message,
})
const invalid = (path: string, message: string) => ({
  ...refusal(400, 'BAD_REQUEST', 'Input validation failed'),
  data: { issues: [{ path, message }] },
})
const noJson = refusal(400, 'BAD_REQUEST', 'The body is not valid JSON')
const noObject = refusal(400, 'BAD_REQUEST', 'The body must be a JSON object')
const unauthorized = refusal(401, 'UNAUTHORIZED', 'Sign in first', true)
const noNote = refusal(404, 'NOT_FOUND', 'There is no such note', true)
const noTask = refusal(404, 'NOT_FOUND', 'Task not found', true)
const forbidden = refusal(403, 'FORBIDDEN', 'You may not do this to the note', true)
const nowhere = refusal(404, 'NOT_FOUND', 'There is nothing at this address')
const wrongType = refusal(415, 'UNSUPPORTED_MEDIA_TYPE', 'A body must be application/json')
const wrongMethod = refusal(405, 'METHOD_NOT_SUPPORTED', 'Method Not Supported')
const unreadable = refusal(400, 'BAD_REQUEST', 'The address cannot be read')
const unstorable = 'Contains a character that cannot be stored'

/** A call whose body goes as these very bytes, and with no content type unless one is given. */
async function send(path: string, body: Uint8Array<ArrayBuffer>, headers: Record<string, string>) {
  const response = await fetch(service.origin + path, { method: 'POST', body, headers })
  return { status: response.status, body: await response.json() }
}

/** What the server says to these very bytes. */
async function speak(words: string) {
  const socket = connect(Number(new URL(service.origin).port), '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined)
  socket.write(words)
  await once(socket, 'close')
  const [head = '', body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), head: head.toLowerCase(), body: JSON.parse(body) as unknown }
}

describe('a body', () => {
  test.each([
    ['is missing', undefined, invalid('', 'Invalid input: expected object, received undefined')],
    ['is malformed', '{"taskTitle":', noJson],
    ['has something after its end', '{"taskTitle":"One"} x', noJson],
    ['is blank', ' ', noJson],
    ['is a list', '[]', noObject],
    ['is a string', '"x"', noObject],
    ['is null', 'null', noObject],
    ['is a number', '1', noObject],
    ['is empty', '{}', invalid('taskTitle', 'Invalid input: expected string, received undefined')],
    [
      'holds null',
      '{"taskTitle":null}',
      invalid('taskTitle', 'Invalid input: expected string, received null'),
    ],
    [
      'holds another type',
      '{"taskTitle":1}',
      invalid('taskTitle', 'Invalid input: expected string, received number'),
    ],
    [
      'is not UTF-8',
      new Uint8Array([...Buffer.from('{"taskTitle":"'), 0xff, 0xfe, ...Buffer.from('"}')]),
      noJson,
    ],
  ])('is refused where it %s', async (_, body, refused) => {
    const ada = await someone()
    const json = { 'content-type': 'application/json', ...ada }

    const answer =
      body instanceof Uint8Array
        ? await send('/api/tasks', body, json)
        : await call('POST', '/api/tasks', body, json)

    expect(answer).toMatchObject({ status: 400, body: refused })
    expect(answer.body).toEqual(refused)
    expect(await call('GET', '/api/tasks', undefined, ada)).toMatchObject({ body: { taskCount: 0 } })
  })

  test.each([
    ['a form', 'application/x-www-form-urlencoded', 'taskTitle=One'],
    ['plain text', 'text/plain', '{"taskTitle":"One"}'],
    ['JSON’s look-alike', 'application/jsonp', '{"taskTitle":"One"}'],
    ['another JSON', 'application/ld+json', '{"taskTitle":"One"}'],
    ['many parts', 'multipart/form-data; boundary=x', '--x--'],
  ])('is refused as %s', async (_, type, body) => {
    const ada = await someone()

    const answer = await call('POST', '/api/tasks', body, { ...ada, 'content-type': type })

    expect(answer).toMatchObject({ status: 415, body: wrongType })
  })

  test('is refused without a type', async () => {
    const ada = await someone()

    const answer = await send('/api/tasks', new Uint8Array(Buffer.from('{"taskTitle":"One"}')), ada)

    expect(answer).toEqual({ status: 415, body: wrongType })
  })

  test.each(['application/json; charset=utf-8', 'Application/JSON', 'application/json ;x=y'])(
    'is taken as %s',
    async (type) => {
      const ada = await someone()

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
  ])('may hold more than %s %s knows, which changes nothing', async (method, path, body) => {
    const ada = await someone()
    const more = { id: 7, userId: 'x', status: 'completed', mine: false, nested: { deep: [1] } }
    const odd = `${JSON.stringify({ ...body, ...more }).slice(0, -1)},"__proto__":{"title":"Odd"}}`

    const answer = await call(method, path, odd, ada)

    expect(answer.status).toBe(200)
    expect(answer.body).not.toMatchObject({ nested: expect.anything() })
    expect(answer.body).not.toMatchObject({ userId: 'x' })
    expect(answer.body).not.toMatchObject({ status: 'completed' })
  })

  test('may be empty or missing where nothing is needed', async () => {
    const ada = await someone()

    for (const body of [undefined, {}])
      expect(await call('POST', '/api/tasks/reset', body, ada)).toMatchObject({
        status: 200,
        body: { taskCount: 0 },
      })
  })

  test.each(['[]', '{bad'])('is refused as %s even where nothing is needed', async (body) => {
    const ada = await someone()

    const answer = await call('POST', '/api/counter/increment', body, ada)

    expect(answer).toMatchObject({ status: 400, body: body === '[]' ? noObject : noJson })
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

  /** Somebody with a task and a note, whose ids stand in for the words TASK and NOTE. */
  async function owner() {
    const ada = await someone()
    const idOf = async (path: string, body: object) => {
      const { body: made } = await call('POST', path, body, ada)
      return String((made as { id: unknown }).id)
    }
    const task = await idOf('/api/tasks', { taskTitle: 'One' })
    const note = await idOf('/api/notes', { title: 'One', body: '' })
    return { ada, fill: (path: string) => path.replace('TASK', task).replace('NOTE', note) }
  }

  test.each(texts)('with NUL or half a character is refused: %s %s %s', async (method, path, field, rest) => {
    const { ada, fill } = await owner()

    for (const text of ['a\0b', '\ud83d', '\ude00\ud83d'])
      expect((await call(method, fill(path), { ...rest, [field]: text }, ada)).body).toEqual(
        invalid(field, unstorable),
      )
  })

  test.each(texts)('is refused as another type: %s %s %s', async (method, path, field, rest) => {
    const { ada, fill } = await owner()

    for (const [value, type] of [
      [1, 'number'],
      [true, 'boolean'],
      [['x'], 'array'],
      [{}, 'object'],
    ] as const)
      expect((await call(method, fill(path), { ...rest, [field]: value }, ada)).body).toEqual(
        invalid(field, `Invalid input: expected string, received ${type}`),
      )
  })

  test.each([
    ['POST', '/api/tasks', 'taskTitle', {}],
    ['PATCH', '/api/tasks/TASK', 'title', {}],
    ['POST', '/api/notes', 'title', { body: '' }],
    ['POST', '/api/notes', 'newNote', {}, 'Must not be blank'],
    ['POST', '/api/sessions/revoke', 'revokeSessionToken', {}],
  ])(
    'must not be empty: %s %s %s',
    async (method, path, field, rest, message = 'Must have at least 1 character') => {
      const { ada, fill } = await owner()

      const { body } = await call(method, fill(path), { ...rest, [field]: '' }, ada)

      expect(body).toEqual(invalid(field, message))
    },
  )

  describe.each(['/api/notes', '/api/notes/NOTE'])('of a note, at %s,', (path) => {
    test.each([
      ['title', 121, 'x', 'Must have at most 120 characters'],
      ['title', 121, '🎉', 'Must have at most 120 characters'],
      ['body', 4001, 'x', 'Must have at most 4000 characters'],
      ['body', 4001, '🎉', 'Must have at most 4000 characters'],
    ])('is refused as %s of %d × %s', async (field, length, character, message) => {
      const { ada, fill } = await owner()
      const note = { title: 'One', body: '', [field]: character.repeat(length) }

      expect((await call('POST', fill(path), note, ada)).body).toEqual(invalid(field, message))
    })

    test.each(['x', '🎉'])('may be as long as the bounds allow, in %s', async (character) => {
      const { ada, fill } = await owner()
      const note = { title: character.repeat(120), body: character.repeat(4000) }

      expect(await call('POST', fill(path), note, ada)).toMatchObject({ status: 200, body: note })
    })

    test('is trimmed as a title before it is measured, and kept as a body', async () => {
      const { ada, fill } = await owner()
      const title = 'x'.repeat(120)

      const padded = await call('POST', fill(path), { title: `  ${title}\n`, body: ' b ' }, ada)
      const blank = await call('POST', fill(path), { title: ' \t ', body: '' }, ada)

      expect(padded).toMatchObject({ status: 200, body: { title, body: ' b ' } })
      expect(blank.body).toEqual(invalid('title', 'Must have at least 1 character'))
    })
  })

  test.each([
    ['is too long', `${'a'.repeat(243)}@example.com`, 'Too big: expected string to have <=254 characters'],
    ['has no @', 'ada', 'Invalid email address'],
    ['begins with a dot', '.ada@example.com', 'Invalid email address'],
    ['has a NUL', 'a\0@example.com', 'Invalid email address'],
    ['is not ASCII', 'ädä@example.com', 'Invalid email address'],
  ])('is refused as an address that %s', async (_, email, message) => {
    const { ada, fill } = await owner()

    const { body } = await call('POST', fill('/api/notes/NOTE/share'), { email, role: 'reader' }, ada)

    expect(body).toEqual(invalid('email', message))
  })

  test.each(['owner', 'constructor', '', 1, null])('is refused as the role %j', async (role) => {
    const { ada, fill } = await owner()

    const { body } = await call('POST', fill('/api/notes/NOTE/share'), { email: newEmail(), role }, ada)

    expect(body).toEqual(invalid('role', 'Invalid option: expected one of "reader"|"editor"'))
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
  ])('is refused as a count where it is %s', async (value, message) => {
    const { body } = await call('POST', '/api/counter/set', `{"inputValue":${value}}`)

    expect(body).toEqual(invalid('inputValue', message))
  })

  test.each([Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 0])('may be %d', async (inputValue) => {
    const answer = await call('POST', '/api/counter/set', { inputValue })

    expect(answer).toMatchObject({ status: 200, body: { count: inputValue } })
  })

  test.each([
    ['1e400', 'Invalid input: expected number, received Infinity'],
    ['"2"', 'Invalid input: expected number, received string'],
    ['null', 'Invalid input: expected number, received null'],
  ])('is no number of seats where it is %s', async (guests, message) => {
    const { body } = await call('POST', '/api/reservations', `{"name":"Ada","guests":${guests}}`)

    expect(body).toEqual(invalid('guests', message))
  })

  test.each([0, 21, 1.5, -1, 2 ** 53])('breaks a rule of reservations where it is %d', async (guests) => {
    const answer = await call('POST', '/api/reservations', { name: ' ', guests })

    expect(answer.body).toEqual({
      ...refusal(400, 'INVALID_RESERVATION', 'The reservation breaks a rule', true),
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

  test.each(malformed)('is refused as %s', async (id) => {
    const ada = await someone()

    for (const [method, path, body] of [
      ['GET', `/api/tasks/${id}`],
      ['PATCH', `/api/tasks/${id}`, {}],
      ['DELETE', `/api/tasks/${id}`],
      ['DELETE', `/api/notes/${id}`],
    ] as const)
      expect((await call(method, path, body, ada)).body).toEqual(invalid('id', 'Must be a whole number'))
  })

  test.each(['0', '9007199254740992', '9223372036854775808', '9'.repeat(400)])(
    'is merely absent as %s',
    async (id) => {
      const ada = await someone()

      expect((await call('GET', `/api/tasks/${id}`, undefined, ada)).body).toEqual(noTask)
      expect((await call('PATCH', `/api/tasks/${id}`, {}, ada)).body).toEqual(noTask)
      for (const path of ['/api/tasks', '/api/notes'])
        expect(await call('DELETE', `${path}/${id}`, undefined, ada)).toMatchObject({
          status: 200,
          body: { success: true },
        })
    },
  )

  test.each([...malformed, '9007199254740992', crypto.randomUUID(), 'x'.repeat(4000)])(
    'of a note is merely absent as %s',
    async (id) => {
      const ada = await someone()

      for (const [path, body] of [
        ['', { title: 'One', body: '' }],
        ['/share', { email: newEmail(), role: 'reader' }],
        ['/delete', {}],
      ] as const)
        expect((await call('POST', `/api/notes/${id}${path}`, body, ada)).body).toEqual(noNote)
    },
  )

  test('is the one of the address, whatever the body says', async () => {
    const ada = await someone()
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
    'is refused as %s',
    async (query) => {
      const ada = await someone()

      const { body } = await call('GET', `/api/tasks?${query}`, undefined, ada)

      expect(body).toEqual(
        invalid('status', 'Invalid option: expected one of "pending"|"in_progress"|"completed"'),
      )
    },
  )

  test.each(['', 'x=y', '__proto__[status]=x', 'constructor=1', '%', '%ff', '&&'])(
    'changes nothing as %s',
    async (query) => {
      const ada = await someone()

      const answer = await call('GET', `/api/tasks?${query}`, undefined, ada)

      expect(answer).toMatchObject({ status: 200, body: { tasks: [], taskCount: 0 } })
    },
  )
})

describe('the order of checks', () => {
  const bad = ['{bad', '[]', '{"title":1,"body":1,"email":1,"role":1}', '{"title":"\\u0000"}']
  const path = { update: '', share: '/share', delete: '/delete' }

  /** A note, its author, and somebody who may only read it. */
  async function shared() {
    const [ada, address] = [await someone(), newEmail()]
    const { body } = await call('POST', '/api/notes', { title: 'One', body: '' }, ada)
    const { id } = body as { id: string }
    await call('POST', `/api/notes/${id}/share`, { email: address, role: 'reader' }, ada)
    return { ada, reader: await someone(address), other: await someone(), id }
  }

  describe.each(Object.entries(path))('of notes.%s', (name, rest) => {
    test.each(bad)('is 401, 404, 403, 400 with the body %s', async (body) => {
      const { ada, reader, other, id } = await shared()
      const post = async (at: string, headers?: Record<string, string>) =>
        (await call('POST', `/api/notes/${at}${rest}`, body, headers)).body

      expect(await post(id)).toEqual(unauthorized)
      expect(await post('absent')).toEqual(unauthorized)
      expect(await post(crypto.randomUUID(), ada)).toEqual(noNote)
      expect(await post(id, reader)).toEqual(forbidden)
      expect(await post(id, other)).toEqual(forbidden)
      // Deleting takes no body, so one that is merely odd is as good as none: that the author may do.
      if (name !== 'delete' || body === '{bad' || body === '[]')
        expect(await post(id, ada)).toMatchObject({ status: 400, code: 'BAD_REQUEST' })
    })
  })

  test.each(bad)('of tasks.update is 401, 404, 400 with the body %s', async (body) => {
    const [ada, bob] = [await someone(), await someone()]
    const { body: task } = await call('POST', '/api/tasks', { taskTitle: 'One' }, ada)
    const at = `/api/tasks/${(task as { id: number }).id}`

    expect((await call('PATCH', at, body)).body).toEqual(unauthorized)
    expect((await call('PATCH', '/api/tasks/abc', body)).body).toEqual(unauthorized)
    expect((await call('PATCH', '/api/tasks/987654321', body, ada)).body).toEqual(noTask)
    expect((await call('PATCH', at, body, bob)).body).toEqual(noTask)
    expect(await call('PATCH', at, body, ada)).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } })
  })

  test.each([
    ['POST', '/api/tasks'],
    ['POST', '/api/tasks/reset'],
    ['DELETE', '/api/tasks/abc'],
    ['POST', '/api/notes'],
    ['POST', '/api/notes/reset'],
    ['DELETE', '/api/notes/abc'],
    ['POST', '/api/sessions/revoke'],
  ])('begins with 401 at %s %s', async (method, at) => {
    for (const body of ['{bad', '[]', '{}']) expect((await call(method, at, body)).body).toEqual(unauthorized)
  })

  test.each(['/api/auth/update-user', '/api/auth/admin/set-role', '/api/auth/admin/stop-impersonating'])(
    'begins with 401 at POST %s, which the contract does not name',
    async (at) => {
      for (const body of ['{bad', '[]', '{}'])
        expect((await call('POST', at, body)).body).toEqual({ ...unauthorized, defined: false })
    },
  )

  test.each(['/api/tasks/abc', '/api/tasks?status=nope', '/api/me', '/api/sessions', '/api/notes'])(
    'begins with 401 at GET %s',
    async (at) => {
      expect((await call('GET', at)).body).toEqual(unauthorized)
    },
  )
})

describe('RPC', () => {
  const inside = (answer: { body: unknown }) => answer.body as { json: unknown }
  const { error: _, ...plain } = noJson

  test('refuses malformed JSON only from somebody signed in', async () => {
    const ada = await someone()

    const stranger = await call('POST', '/rpc/tasks/create', '{bad')
    const known = await call('POST', '/rpc/tasks/create', '{bad', ada)

    expect(stranger.status).toBe(401)
    expect(inside(stranger).json).toEqual({
      defined: true,
      code: 'UNAUTHORIZED',
      status: 401,
      message: 'Sign in first',
    })
    expect(known.status).toBe(400)
    expect(inside(known).json).toEqual(plain)
  })

  test.each([undefined, {}, '[]', { json: 1 }, { json: { taskTitle: 'One' }, meta: 5 }, { json: [] }])(
    'refuses the body %j',
    async (body) => {
      const ada = await someone()

      const answer = await call('POST', '/rpc/tasks/create', body, ada)

      expect(answer.status).toBe(400)
      expect(inside(answer).json).toMatchObject({ defined: false, code: 'BAD_REQUEST', status: 400 })
    },
  )

  test.each([
    ['a meta that is none', 'POST', '/rpc/tasks/create', { json: {}, meta: 5 }],
    ['a query that is none', 'GET', '/rpc/tasks/list?data=%7Bbad', undefined],
  ])('refuses %s only from somebody signed in', async (_, method, path, body) => {
    expect((await call(method, path, body)).status).toBe(401)
    expect((await call(method, path, body, await someone())).status).toBe(400)
  })

  test.each(['/rpc/tasks/create', '/rpc/tasks/reset', '/rpc/counter/increment', '/rpc/reservations/create'])(
    'does nothing by GET %s',
    async (path) => {
      const ada = await someone()
      const { body: before } = await call('GET', '/api/counter')

      const answer = await call('GET', path, undefined, ada)

      expect(answer.status).toBe(405)
      expect(inside(answer).json).toMatchObject({ code: 'METHOD_NOT_SUPPORTED', status: 405 })
      expect((await call('GET', '/api/counter')).body).toEqual(before)
    },
  )

  test.each(['/rpc', '/rpc/', '/rpc/nope', '/rpc/tasks', '/rpc/tasks/create/more', '/rpc/constructor/name'])(
    'has nothing at %s',
    async (path) => {
      expect((await call('POST', path, {})).body).toEqual(nowhere)
    },
  )
})

describe('an address', () => {
  test.each(['/', '/api', '/api/nope', '/api//tasks', '//api/tasks', '/api/tasks/1/2', '/api/%ff', '/nope'])(
    'leads nowhere as %s',
    async (path) => {
      const ada = await someone()

      for (const method of ['GET', 'POST', 'PATCH', 'DELETE', 'PUT'])
        expect((await call(method, path, undefined, ada)).body).toEqual(nowhere)
    },
  )

  test.each([
    ['PUT', '/api/tasks', 'GET, POST'],
    ['DELETE', '/api/tasks', 'GET, POST'],
    ['POST', '/api/tasks/1', 'GET, PATCH, DELETE'],
    ['PUT', '/api/notes', 'GET, POST'],
    ['GET', '/api/notes/1', 'POST, DELETE'],
    ['GET', '/api/notes/1/share', 'POST'],
    ['POST', '/api/status', 'GET'],
    ['POST', '/api/me', 'GET'],
    ['GET', '/api/counter/increment', 'POST'],
    ['GET', '/api/reservations', 'POST'],
    ['DELETE', '/api/sessions', 'GET'],
    ['OPTIONS', '/api/counter', 'GET'],
    ['POST', '/docs', 'GET'],
    ['POST', '/api/openapi.json', 'GET'],
    ['GET', '/api/auth/sign-out', 'POST'],
    ['POST', '/api/auth/get-session', 'GET'],
    ['GET', '/api/auth/admin/set-role', 'POST'],
  ])('is refused to %s %s, which knows %s', async (method, path, allow) => {
    const answer = await call(method, path)

    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe(allow)
    expect(answer.body).toEqual(wrongMethod)
  })

  test.each([
    '/api/status',
    '/api/counter',
    '/api/tasks',
    '/api/me',
    '/api/nope',
    '/docs',
    '/api/openapi.json',
  ])('answers HEAD as GET at %s', async (path) => {
    const ada = await someone()

    const [get, head] = await Promise.all(
      ['GET', 'HEAD'].map((method) => fetch(service.origin + path, { method, headers: ada })),
    )

    expect(head?.status).toBe(get?.status)
    for (const name of ['content-type', 'content-length', 'cache-control'])
      expect(head?.headers.get(name)).toBe(get?.headers.get(name))
    expect(await head?.text()).toBe('')
  })

  test.each(['/api/tasks/%00', '/api/tasks?status=%00', '/%00', '/api/notes/a%00b/share'])(
    'is refused as %s',
    async (path) => {
      const ada = await someone()

      expect(await call('GET', path, undefined, ada)).toMatchObject({ status: 400, body: unreadable })
    },
  )

  test.each(['http://', 'ftp://elsewhere.example/api/status', '*', 'api/status'])(
    'is refused as the target %s',
    async (target) => {
      const { status, body } = await speak(`GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)

      expect(status).toBe(400)
      expect(ErrorBody.parse(body)).toMatchObject({ status: 400 })
    },
  )

  test('is refused over 8 KiB', async () => {
    const longest = `/${'a'.repeat(8191)}`

    expect((await call('GET', longest)).body).toEqual(nowhere)
    expect((await call('GET', `${longest}a`)).body).toEqual(
      refusal(414, 'URI_TOO_LONG', 'The address is too long'),
    )
  })
})

describe('a request', () => {
  test('is refused with headers over 16 KiB', async () => {
    const padding = `x-padding: ${'a'.repeat(17 * 1024)}`

    const { status, head, body } = await speak(`GET /api/status HTTP/1.1\r\nhost: x\r\n${padding}\r\n\r\n`)

    expect(status).toBe(431)
    expect(head).toContain('content-type: application/json')
    expect(body).toEqual(refusal(431, 'REQUEST_HEADER_FIELDS_TOO_LARGE', 'Request Header Fields Too Large'))
  })

  test('passes with headers under 16 KiB', async () => {
    const answer = await call('GET', '/api/status', undefined, { 'x-padding': 'a'.repeat(15 * 1024) })

    expect(answer.status).toBe(200)
  })

  test.each([
    ['is no HTTP', 'nonsense\r\n\r\n'],
    ['repeats its length', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
    [
      'has two lengths',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0',
    ],
    ['has an unreadable header', 'GET / HTTP/1.1\r\nhost: x\r\nx y: z\r\n\r\n'],
  ])('is refused where it %s', async (_, words) => {
    expect((await speak(words)).body).toEqual(refusal(400, 'BAD_REQUEST', 'Bad Request'))
  })

  test('is refused with a body of 20 MB', async () => {
    const ada = await someone()

    const answer = await call('POST', '/api/tasks', { taskTitle: 'x'.repeat(20_000_000) }, ada)

    expect(answer.status).toBe(413)
    expect(answer.body).toEqual(refusal(413, 'PAYLOAD_TOO_LARGE', `A body may have at most ${MIB} bytes`))
  })

  test('may have a body of 1 MiB and no more, said or unsaid', async () => {
    const ada = { ...(await someone()), 'content-type': 'application/json' }
    const bodyOf = (bytes: number) => JSON.stringify({ taskTitle: 'x', unknown: 'x'.repeat(bytes - 30) })
    const post = async (body: string | ReadableStream) =>
      (await fetch(`${service.origin}/api/tasks`, { method: 'POST', headers: ada, body, duplex: 'half' }))
        .status

    expect(bodyOf(MIB)).toHaveLength(MIB)
    expect(await post(bodyOf(MIB))).toBe(200)
    expect(await post(bodyOf(MIB + 1))).toBe(413)
    expect(await post(new Blob([bodyOf(MIB + 1)]).stream())).toBe(413)
  })
})

describe('/api/notes', () => {
  const first = { id: expect.any(Number), userId: expect.any(String), text: 'One' }
  const second = { id: expect.any(String), title: 'One', body: 'One', mine: true }
  const accepts = [
    ['nothing said', {}, 2],
    ['application/json', { accept: 'application/json' }, 2],
    ['anything', { accept: '*/*' }, 2],
    ['a page first', { accept: 'text/html, */*;q=0.8' }, 2],
    ['a version that is none', { accept: 'application/json;version=2' }, 2],
    ['the first form', { accept: FIRST_FORM }, 1],
    ['the first form, quoted', { accept: 'application/json; version="1"' }, 1],
    ['the first form rather', { accept: `application/json;q=0.5, ${FIRST_FORM}` }, 1],
    ['the second form rather', { accept: `${FIRST_FORM};q=0.5, application/json` }, 2],
  ] as const

  const typeOf = ({ headers }: { headers: Headers }) => headers.get('content-type')
  const varyOf = ({ headers }: { headers: Headers }) =>
    headers
      .get('vary')
      ?.split(',')
      .map((name) => name.trim())

  test.each(accepts)('by GET, with %s, answers the right form and names it', async (_, accept, form) => {
    const ada = await someone()
    await call('POST', '/api/notes', { newNote: 'One' }, ada)

    const answer = await call('GET', '/api/notes', undefined, { ...ada, ...accept })

    expect(answer.status).toBe(200)
    expect(typeOf(answer)).toBe(form === 1 ? FIRST_FORM : 'application/json')
    expect(varyOf(answer)).toEqual(expect.arrayContaining(['Accept', 'Datastar-Request']))
    expect(answer.body).toMatchObject(
      form === 1 ? { notes: [first], noteCount: 1 } : { notes: [second], can: { CREATE_NOTE: true } },
    )
  })

  test.each(accepts)('by POST, with %s, takes and answers the right form', async (_, accept, form) => {
    const ada = await someone()
    const body = form === 1 ? { newNote: 'One' } : { title: 'One', body: 'One' }

    const answer = await call('POST', '/api/notes', body, { ...ada, ...accept })

    expect(typeOf(answer)).toBe(form === 1 ? FIRST_FORM : 'application/json')
    expect(varyOf(answer)).toEqual(expect.arrayContaining(['Accept', 'Datastar-Request']))
    expect(answer.body).toMatchObject(form === 1 ? first : second)
  })

  test('by POST knows the first form by its body', async () => {
    const ada = await someone()

    const own = await call('POST', '/api/notes', { newNote: 'One' }, ada)
    const both = await call('POST', '/api/notes', { newNote: 'One', title: 'Two', body: '' }, ada)

    expect(own).toMatchObject({ status: 200, body: first })
    expect(typeOf(own)).toBe(FIRST_FORM)
    expect(both).toMatchObject({ status: 200, body: { title: 'Two' } })
    expect(typeOf(both)).toBe('application/json')
  })

  test.each([
    ['a title for the first form', { title: 'One', body: '' }, { accept: FIRST_FORM }, 'newNote'],
    ['nothing for the first form', {}, { accept: FIRST_FORM }, 'newNote'],
    ['no body for the second form', { title: 'One' }, {}, 'body'],
  ])('by POST refuses %s', async (_, body, accept, field) => {
    const ada = await someone()

    const answer = await call('POST', '/api/notes', body, { ...ada, ...accept })

    expect(answer.body).toEqual(invalid(field, 'Invalid input: expected string, received undefined'))
    expect(varyOf(answer)).toEqual(expect.arrayContaining(['Accept', 'Datastar-Request']))
  })

  test.each<Record<string, string>>([{}, { accept: FIRST_FORM }, { 'datastar-request': 'true' }])(
    'refuses a stranger, whatever the form: %j',
    async (headers) => {
      const answer = await call('GET', '/api/notes', undefined, headers)

      expect(answer.body).toEqual(unauthorized)
      expect(varyOf(answer)).toEqual(expect.arrayContaining(['Accept', 'Datastar-Request']))
    },
  )
})

describe('whatever comes', () => {
  const known = [
    'title',
    'body',
    'email',
    'role',
    'taskTitle',
    'taskDesc',
    'description',
    'status',
    'newNote',
  ]
  const fields = [...known, 'inputValue', 'revokeSessionToken', 'name', 'guests', 'id']
  const value = fc.oneof(
    fc.jsonValue(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\0', '\ud800', 'reader', 'pending', 'ada@example.com', 1e308, 2 ** 53, -1, ''),
  )
  const object = fc.oneof(fc.dictionary(fc.constantFrom(...fields), value), fc.jsonValue())
  const body = fc.oneof({ weight: 4, arbitrary: object.map((json) => JSON.stringify(json)) }, fc.string())
  const id = fc
    .oneof(fc.nat(), fc.bigInt(), fc.uuid(), fc.string({ unit: 'binary' }), fc.double())
    .map((some) => encodeURIComponent(String(some)))
  const request = fc.record({
    body: fc.option(body),
    id,
    query: fc.webQueryParameters(),
    accept: fc.constantFrom('*/*', FIRST_FORM, 'text/event-stream', 'nonsense;;;q=x', ''),
    language: fc.oneof(fc.string().map(encodeURIComponent), fc.constantFrom('de', '*;q=0', 'zh-TW')),
  })
  const bounded = { numRuns: 20, endOnFailure: true }

  const operations: { name: string; method: string; path: string; signedIn: boolean }[] = []
  traverseContractProcedures({ router: contract, path: [] }, ({ contract: procedure, path: steps }) => {
    const { method = 'POST', path = '/' } = procedure['~orpc'].route
    operations.push({
      name: steps.join('.'),
      method,
      path,
      signedIn: metaOf(procedure).access === 'signedIn',
    })
  })

  test('is every operation', () => {
    expect(operations.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['status.get', 'notes.share', 'legacyNotes.create', 'reservations.create']),
    )
    expect(operations.length).toBeGreaterThanOrEqual(26)
  })

  test.each(operations)('over REST, $name never fails', async ({ method, path, signedIn }) => {
    const ada = await someone()

    const law = fc.asyncProperty(request, async ({ body, id, query, accept, language }) => {
      const at = `${path.replace('{id}', id)}?${query}`
      const sent = method === 'GET' ? undefined : (body ?? undefined)
      const headers = { accept, 'accept-language': language }
      for (const who of [ada, {}]) {
        const answer = await call(method, at, sent, { ...headers, ...who })
        expect(answer.status).toBeLessThan(500)
        if (answer.status !== 200)
          expect(ErrorBody.strict().parse(answer.body)).toMatchObject({
            status: answer.status,
            error: (answer.body as ErrorBody).message,
          })
        if (signedIn && who !== ada) expect(answer.status).not.toBe(200)
      }
    })

    await fc.assert(law, bounded)
  })

  test.each(operations)('over RPC, $name never fails', async ({ name, signedIn }) => {
    const ada = await someone()
    const path = `/rpc/${name.replace('.', '/')}`
    const meta = fc.array(fc.array(fc.oneof(fc.nat(9), fc.constantFrom(...fields), fc.string())))

    const law = fc.asyncProperty(object, fc.option(fc.oneof(meta, fc.jsonValue())), async (json, extra) => {
      for (const who of [ada, {}]) {
        const answer = await call('POST', path, { json, ...(extra !== null && { meta: extra }) }, who)
        expect(answer.status).toBeLessThan(500)
        if (answer.status !== 200)
          expect(answer.body).toMatchObject({
            json: { code: expect.any(String), status: answer.status, message: expect.any(String) },
          })
        if (signedIn && who !== ada) expect(answer.status).not.toBe(200)
      }
    })

    await fc.assert(law, bounded)
  })
})

describe('RPC', () => {
  test.each<unknown>([
    { toString: null },
    { toString: 1, valueOf: 1 },
    { deep: [[[]]] },
    5,
    null,
    '['.repeat(1000),
  ])('takes %j for the id of no note', async (id) => {
    const answer = await call(
      'POST',
      '/rpc/notes/update',
      { json: { id, title: 'x', body: '' } },
      await someone(),
    )

    expect(answer.status).toBe(404)
  })
})

describe('reservations.create', () => {
  test('looks at no more languages than a person could speak', async () => {
    const tags = Array.from({ length: 4000 }, (_, index) => `x${index.toString(36)}`).join()
    const headers = { 'accept-language': tags.slice(0, 15_000) }

    const answer = await call('POST', '/api/reservations', { name: 'Ada', guests: 2 }, headers)

    expect(answer.headers.get('content-language')).toBe('en')
  })
})
