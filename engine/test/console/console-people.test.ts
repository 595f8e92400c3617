import { describe, expect, test, vi } from 'vitest'
import { isOfEngine } from 'tallystick-contract/internal'

import { samplePeople } from '../../console/people.ts'
import { newEmail } from '../fixtures/bind-service.ts'
import { startConsole } from '../fixtures/console.ts'

const { askRoot, client, cookie, origin, port, service, services } = await startConsole()
const localhost = `localhost:${port}`

const linkOf = async (person: 'ada' | 'charles' | 'admin') => {
  const { url } = await client.people.signIn({ person })
  return { url, path: url.replace(`http://${localhost}`, '') }
}

const accountOf = async (headers: Record<string, string>) =>
  (await service.fetch('GET', '/api/me', undefined, headers)).body

describe('people.signIn', () => {
  test.each(['ada', 'charles', 'admin'] as const)('signs %s in to the page', async (person) => {
    const { path } = await linkOf(person)

    const { status, headers } = await askRoot('GET', path, { host: localhost })

    const session = headers['set-cookie']?.map((line) => line.split(';', 1)[0]).join('; ') ?? ''
    expect([status, headers.location]).toEqual([303, service.origin])
    expect(await accountOf({ cookie: session })).toMatchObject(samplePeople[person])
  })

  test('gives only the administrator the role', async () => {
    const statuses = await Promise.all(
      (['ada', 'admin'] as const).map(async (person) => {
        const { headers } = await askRoot('GET', (await linkOf(person)).path, { host: localhost })
        const session = headers['set-cookie']?.map((line) => line.split(';', 1)[0]).join('; ') ?? ''
        return (await service.fetch('GET', '/api/audit', undefined, { cookie: session })).status
      }),
    )

    expect(statuses).toEqual([403, 200])
  })

  test('creates a link that works once', async () => {
    const { path } = await linkOf('ada')
    await askRoot('GET', path, { host: localhost })

    const { status, headers } = await askRoot('GET', path, { host: localhost })

    expect([status, headers['set-cookie']]).toEqual([410, undefined])
  })

  test('creates a link that works for a minute', async () => {
    const { path } = await linkOf('ada')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_001 })

    const { status } = await askRoot('GET', path, { host: localhost }).finally(() => vi.useRealTimers())

    expect(status).toBe(410)
  })

  test('creates a link that works only at localhost', async () => {
    const { path } = await linkOf('ada')

    const { status } = await askRoot('GET', path, { cookie })

    expect(status).toBe(404)
  })

  test.each(['/', '/rpc/overview', '/sign-in', '/console/assets/main.js'])(
    'is the only reason for requests to localhost: %s is refused',
    async (path) => {
      expect((await askRoot('GET', path, { cookie, host: localhost })).status).toBe(403)
    },
  )

  test('creates links only for the sample people, whose addresses are reserved', async () => {
    const email = newEmail().replace('example.com', 'tallystick.dev')
    const call = client.people.signIn as (input: object) => Promise<unknown>

    expect(Object.values(samplePeople).filter(({ email }) => !email.endsWith('@example.com'))).toEqual([])
    for (const input of [{ person: email }, { person: '__proto__' }, { email }])
      await expect(call(input)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  })

  test('says that a banned person cannot sign in', async () => {
    const { path } = await linkOf('charles')
    const { users } = await import('../../db/accounts/users.ts')
    const { eq } = await import('drizzle-orm')
    const isCharles = eq(users.email, samplePeople.charles.email)
    await services.db.update(users).set({ banned: true }).where(isCharles)

    const { status, body } = await askRoot('GET', path, { host: localhost })
    await services.db.update(users).set({ banned: false }).where(isCharles)

    expect([status, body.toString()]).toEqual([
      409,
      expect.stringContaining('charles@example.com cannot sign in'),
    ])
  })
})

describe('procedures.call', () => {
  const nobody = { person: null, scopes: null }
  const ada = { person: 'ada', scopes: null } as const
  const create = { operation: 'shelves.create', input: { name: 'To read' }, headers: {} }

  test('calls the service over REST', async () => {
    const result = await client.procedures.call({ ...create, caller: ada })

    expect(result).toMatchObject({
      request: { method: 'POST', url: `${service.origin}/api/shelves`, body: '{"name":"To read"}' },
      status: 200,
      error: null,
      isCut: false,
    })
    expect(JSON.parse(result.body)).toMatchObject({ name: 'To read', isOwn: true })
    expect(result.headers).toContainEqual(['cache-control', 'no-store'])
  })

  test.each([
    [nobody, 401, 'UNAUTHORIZED'],
    [{ person: 'ada', scopes: ['read'] } as const, 403, 'INSUFFICIENT_SCOPE'],
    [{ person: 'charles', scopes: ['write'] } as const, 200, undefined],
    [{ person: 'ada', scopes: ['read', 'write'] } as const, 200, undefined],
  ])('calls as %j', async (caller, status, code) => {
    const result = await client.procedures.call({
      ...create,
      caller: { person: caller.person, scopes: caller.scopes && [...caller.scopes] },
    })

    expect([result.status, result.error?.code]).toEqual([status, code])
  })

  test('shows whether the contract declares an error', async () => {
    const get = { operation: 'loans.get', caller: ada, headers: {} }

    const declared = await client.procedures.call({ ...get, input: { id: '999999' } })
    const undeclared = await client.procedures.call({ ...get, input: { id: 'x' } })

    expect(declared.error).toEqual({ code: 'NOT_FOUND', message: 'There is no such loan', isDefined: true })
    expect(undeclared).toMatchObject({ status: 400, error: { code: 'BAD_REQUEST', isDefined: false } })
  })

  test('sends headers of the request', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() }

    const first = await client.procedures.call({ ...create, caller: ada, headers })
    const second = await client.procedures.call({ ...create, caller: ada, headers })

    expect(JSON.parse(second.body)).toEqual(JSON.parse(first.body))
  })

  test('signs in again after the end of the session', async () => {
    await client.procedures.call({ ...create, caller: { person: 'admin', scopes: null } })
    const { sessions } = await import('../../db/accounts/sessions.ts')
    await services.db.delete(sessions)

    const { status } = await client.procedures.call({ ...create, caller: { person: 'admin', scopes: null } })

    expect(status).toBe(200)
  })

  test.each(['shelves', 'shelves.delete', '__proto__.create', 'live.watch'])(
    'refuses %s',
    async (operation) => {
      const call = client.procedures.call({ operation, input: {}, caller: ada, headers: {} })

      await expect(call).rejects.toMatchObject({
        code: operation === 'live.watch' ? 'BAD_REQUEST' : 'NOT_FOUND',
      })
    },
  )

  test('sends an input without a parameter of the path, and shows the answer', async () => {
    const result = await client.procedures.call({
      operation: 'loans.get',
      input: {},
      caller: ada,
      headers: {},
    })

    expect(result).toMatchObject({ status: 400, error: { code: 'BAD_REQUEST' } })
    expect(JSON.parse(result.body)).toMatchObject({ data: { issues: [{ path: 'id' }] } })
  })
})

describe('procedures.list', () => {
  test('describes each procedure of the contract, those of the application first', async () => {
    const { router } = services.app
    const names = Object.entries(router).flatMap(([name, members]) =>
      Object.keys(members).map((key) => `${name}.${key}`),
    )

    const procedures = await client.procedures.list()

    const ofEngine = (name: string) => isOfEngine(name.split('.', 1)[0] ?? '')
    const ordered = [...names.filter((name) => !ofEngine(name)), ...names.filter(ofEngine)]
    expect(procedures.map(({ operation }) => operation)).toEqual(ordered)
    expect(ordered).not.toEqual(names)
    expect(procedures.find(({ operation }) => operation === 'loans.create')).toMatchObject({
      method: 'POST',
      path: '/api/loans',
      access: 'signedIn',
      scope: 'write',
      tool: 'loans_create',
      headers: ['Idempotency-Key'],
      rateLimit: { name: 'writes', by: 'account' },
      errors: expect.arrayContaining([
        expect.objectContaining({ code: 'NO_COPY', status: 409, message: 'All copies are lent' }),
      ]),
      input: { properties: { bookId: { type: 'string' } }, required: ['bookId'] },
    })
    expect(
      procedures.filter(({ access }) => access === 'administrators').map(({ operation }) => operation),
    ).toEqual(expect.arrayContaining(['audit.list', 'books.create', 'books.update']))
  })
})

describe('procedures.validate', () => {
  test('returns the issues of an input', async () => {
    const validate = (input: unknown) => client.procedures.validate({ operation: 'shelves.create', input })

    expect(await validate({ name: 'To read' })).toEqual({ issues: [] })
    expect(await validate({ name: '' })).toEqual({ issues: [{ path: 'name', message: expect.any(String) }] })
    expect(await validate(null)).toEqual({ issues: [{ path: '', message: expect.any(String) }] })
  })
})

test('the procedures of the console do not belong to the service', async () => {
  for (const path of ['/rpc/overview', '/rpc/data/tables', '/sign-in', '/outbox'])
    expect((await service.fetch('POST', path, {}, { cookie, origin })).status).not.toBe(200)
})
