import { StandardRPCJsonSerializer } from '@orpc/client/standard'
import { eq, sql } from 'drizzle-orm'
import { createHash } from 'node:crypto'
import { safe } from 'tallystick-contract'
import { afterAll, describe, expect, test, vi } from 'vitest'

import { users } from '../../db/accounts/users.ts'
import { removeExpired } from '../../db/housekeeping.ts'
import { idempotency, tryLock } from '../../db/accounts/idempotency.ts'
import { addBook } from '../fixtures/books.ts'
import { createFetch } from '../fixtures/http.ts'
import {
  createTallystick,
  describeTransports,
  newEmail,
  startService,
  transports,
} from '../fixtures/service.ts'

const service = await startService({ TRUSTED_ORIGINS: 'https://trusted.example' })
const call = createFetch(service)
const { db } = service.services

const keyed = (key: string = crypto.randomUUID()) => ({ context: { headers: { 'idempotency-key': key } } })
const input = { name: 'Write' }
const loan = { bookId: await addBook(service), remark: '' }

describeTransports(service, ({ person }) => {
  describe('a repeated request with the same idempotency key', () => {
    test('gets the first response, and creates nothing', async () => {
      const ada = await person()
      const [key, another] = [keyed(), keyed()]

      const first = await ada.shelves.create(input, key)
      const again = await ada.shelves.create(input, key)
      const loans = [await ada.loans.create(loan, another), await ada.loans.create(loan, another)]

      expect(again).toEqual(first)
      expect(loans[1]).toEqual(loans[0])
      expect(await ada.shelves.list()).toEqual({ shelves: [first] })
      expect(await ada.loans.list()).toEqual({ loans: [loans[0]] })
    })

    test('gets the first response after a change or deletion of the created row', async () => {
      const ada = await person()
      const key = keyed()
      const first = await ada.loans.create(loan, key)
      await ada.loans.update({ id: first.id, remark: 'Changed' })

      const changed = await ada.loans.create(loan, key)
      await ada.loans.return({ id: first.id })
      const gone = await ada.loans.create(loan, key)

      expect([changed, gone]).toEqual([first, first])
      expect(await ada.loans.list()).toEqual({ loans: [] })
    })

    test('is rejected with another body or for another operation', async () => {
      const ada = await person()
      const key = keyed()
      await ada.loans.create(loan, key)
      const refused = { defined: true, code: 'KEY_REUSED', status: 422 }

      await expect(ada.loans.create({ ...loan, remark: 'more' }, key)).rejects.toMatchObject(refused)
      await expect(ada.shelves.create(input, key)).rejects.toMatchObject(refused)
      expect((await ada.loans.list()).loans).toHaveLength(1)
    })

    test('is rejected while the first request is in progress', async () => {
      const ada = await person()
      const { id } = await ada.account.get()

      const answer = await db.transaction(async (tx) => {
        await tryLock(tx, id, 'held')
        return safe(ada.shelves.create(input, keyed('held')))
      })

      expect(answer.error).toMatchObject({ defined: true, code: 'UNDER_WAY', status: 409 })
      await expect(ada.shelves.create(input, keyed('held'))).resolves.toMatchObject({ name: 'Write' })
    })

    test('runs again after a failure of the first request', async () => {
      const ada = await person()
      const key = keyed()
      await expect(ada.shelves.create({ name: '' }, key)).rejects.toMatchObject({ code: 'BAD_REQUEST' })

      await expect(ada.shelves.create(input, key)).resolves.toMatchObject({ name: 'Write' })
    })

    test('runs again after a day', async () => {
      const ada = await person()
      const { id } = await ada.account.get()
      const key = keyed()
      const first = await ada.shelves.create(input, key)
      await expire(id)

      const second = await ada.shelves.create({ name: 'Another' }, key)
      const again = await ada.shelves.create({ name: 'Another' }, key)

      expect(second.id).not.toBe(first.id)
      expect(again).toEqual(second)
    })

    test('does not affect other people with the same key', async () => {
      const [ada, bob] = [await person(), await person()]
      const key = keyed()
      const hers = await ada.shelves.create(input, key)

      const his = await bob.shelves.create({ name: 'His' }, key)

      expect(his).toMatchObject({ name: 'His', isOwn: true })
      expect(his.id).not.toBe(hers.id)
    })

    test.each(['', 'a b', 'x'.repeat(256), 'é', '\t'])('is rejected with the key “%s”', async (key) => {
      const ada = await person()

      await expect(ada.shelves.create(input, keyed(key))).rejects.toMatchObject({
        code: 'BAD_REQUEST',
        data: {
          issues: [{ path: 'Idempotency-Key', message: 'Must be 1 to 255 visible ASCII characters' }],
        },
      })
    })

    test.each(['!', '~', 'x'.repeat(255), '"8e03978e-40d5-43dd-bc93-6894a57f9324"'])(
      'accepts the key %s',
      async (key) => {
        const ada = await person()

        await expect(ada.shelves.create(input, keyed(key))).resolves.toMatchObject({ name: 'Write' })
      },
    )

    test('creates one row for many concurrent requests', async () => {
      const ada = await person()
      const key = keyed()

      const outcomes = await Promise.all(
        Array.from({ length: 50 }, () => safe(ada.shelves.create(input, key))),
      )

      const { shelves } = await ada.shelves.list()
      expect(shelves).toHaveLength(1)
      for (const { error, data } of outcomes) {
        if (error) expect(error).toMatchObject({ code: 'UNDER_WAY' })
        else expect(data).toEqual(shelves[0])
      }
    })
  })
})

const expire = (userId: string) =>
  db
    .update(idempotency)
    .set({ expiresAt: sql`now() - interval '1 second'` })
    .where(eq(idempotency.userId, userId))

describe('the first response', () => {
  test('is the same over every transport', async () => {
    const cookie = await service.signIn(newEmail())
    const key = keyed()

    const answers = []
    for (const [, connect] of transports)
      answers.push(await connect(service, { cookie }).shelves.create(input, key))

    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
  })

  test('is repeated byte for byte, with its ETag', async () => {
    const headers = await keyedHeaders()

    const [first, again] = [
      await post('/api/shelves', input, headers),
      await post('/api/shelves', input, headers),
    ]

    expect(again).toEqual(first)
    expect(again.etag).toBe('"1"')
  })

  test('is rendered as events for a hypermedia page, which adds one shelf', async () => {
    const headers = { ...(await keyedHeaders()), 'datastar-request': 'true' }
    const signals = { name: 'Milk', shelfCount: 0 }

    const [first, again] = [
      await post('/api/shelves', signals, headers),
      await post('/api/shelves', signals, headers),
    ]

    expect(again).toEqual(first)
    expect(again.text).toContain('signals {"shelfCount":1}')
  })

  test('is the same from another instance', async () => {
    const other = await createTallystick({
      DATABASE_URL: service.databaseUrl,
      AUTH_SECRET: service.services.settings.authSecret,
    })
    afterAll(() => other.close())
    const cookie = await service.signIn(newEmail())
    const [here, there] = [service.client({ cookie }), other.client({ cookie })]
    const key = keyed()

    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, index) => safe((index % 2 ? here : there).shelves.create(input, key))),
    )
    const again = [await here.shelves.create(input, key), await there.shelves.create(input, key)]

    expect(again[0]).toEqual(again[1])
    expect(await there.shelves.list()).toEqual({ shelves: [again[0]] })
    for (const { error } of outcomes) if (error) expect(error).toMatchObject({ code: 'UNDER_WAY' })
  })

  test('is found by a fingerprint of release 1.0', async () => {
    const key = crypto.randomUUID()
    const ada = service.client({ cookie: await service.signIn(newEmail()) })
    const serialized = new StandardRPCJsonSerializer().serialize(input)
    const fingerprint = createHash('sha256')
      .update(JSON.stringify([['shelves', 'create'], serialized]))
      .digest('base64url')

    await ada.shelves.create(input, keyed(key))

    const rows = await db.select().from(idempotency).where(eq(idempotency.key, key))
    expect(rows).toMatchObject([{ fingerprint }])
  })

  test('is stored in the same transaction as the created row', async () => {
    const ada = await service.person()
    const key = keyed()
    await db.execute(sql`alter table idempotency add constraint broken check (false) not valid`)

    await expect(ada.shelves.create(input, key)).rejects.toThrow()

    await db.execute(sql`alter table idempotency drop constraint broken`)
    expect(await ada.shelves.list()).toEqual({ shelves: [] })
    await expect(ada.shelves.create(input, key)).resolves.toMatchObject({ name: 'Write' })
  })

  test('is removed after a day, and with the account', async () => {
    const [ada, bob, eve] = [await service.person(), await service.person(), await service.person()]
    const people = [ada, bob, eve]
    for (const someone of people) await someone.shelves.create(input, keyed())
    const [adaId = '', bobId = '', eveId = ''] = await Promise.all(
      people.map(async (each) => (await each.account.get()).id),
    )
    await expire(adaId)
    await db.delete(users).where(eq(users.id, bobId))

    await removeExpired(db)

    const left = (await db.select().from(idempotency)).map(({ userId }) => userId)
    expect(left).not.toContain(adaId)
    expect(left).not.toContain(bobId)
    expect(left).toContain(eveId)
  })
})

const keyedHeaders = async () => ({
  cookie: await service.signIn(newEmail()),
  'idempotency-key': crypto.randomUUID(),
})

async function post(path: string, body: object, headers: Record<string, string>) {
  const response = await fetch(service.origin + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const [etag, type] = ['etag', 'content-type'].map((name) => response.headers.get(name))
  return { status: response.status, etag, type, text: await response.text() }
}

describe('a key', () => {
  test('is evaluated after authentication', async () => {
    const { status } = await call('POST', '/api/shelves', input, { 'idempotency-key': '' })

    expect(status).toBe(401)
  })

  test('of a request in progress causes a Retry-After header', async () => {
    const { cookie, ...headers } = await keyedHeaders()
    const { id } = await service.client({ cookie }).account.get()

    const answer = await db.transaction(async (tx) => {
      await tryLock(tx, id, headers['idempotency-key'])
      return call('POST', '/api/shelves', input, { cookie, ...headers })
    })

    expect(answer.status).toBe(409)
    expect(answer.headers.get('retry-after')).toBe('1')
  })

  test('works for an input that JSON cannot represent', async () => {
    const { cookie, ...headers } = await keyedHeaders()
    const body = { json: { name: '7' }, meta: [[0, 'name']] }

    const { status } = await call('POST', '/rpc/shelves/create', body, { cookie, ...headers })

    expect(status).toBe(400)
  })

  test('has no effect on operations that create nothing', async () => {
    const { visits } = service.stranger
    const { count } = await visits.get()
    const key = keyed()

    expect([await visits.add(undefined, key), await visits.add(undefined, key)]).toEqual([
      { count: count + 1 },
      { count: count + 2 },
    ])
  })

  test('can be sent by pages of trusted origins', async () => {
    const { headers } = await call('OPTIONS', '/api/shelves', undefined, {
      origin: 'https://trusted.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'idempotency-key,if-match,if-none-match',
    })

    expect(headers.get('access-control-allow-headers')).toBe('idempotency-key,if-match,if-none-match')
  })

  test('causes 503 while the database is unavailable', async () => {
    const ada = await service.person()
    const away = Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
    vi.spyOn(db, 'transaction').mockRejectedValueOnce(away)

    await expect(ada.shelves.create(input, keyed())).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })
})
