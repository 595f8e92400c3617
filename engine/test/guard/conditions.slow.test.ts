import { createRouterClient } from '@orpc/server'
import { safe } from 'tallystick-contract'
import { describe, expect, test } from 'vitest'

import { addBook } from '../fixtures/books.ts'
import { createFetch } from '../fixtures/http.ts'
import { createClient, createRestClient, newEmail, startService } from '../fixtures/service.ts'
import { bindTaggedClients } from '../fixtures/tagged-clients.ts'
import { app } from '../library/app.ts'

const ADMIN = 'admin@example.com'

const service = await startService({ TRUSTED_ORIGINS: 'https://trusted.example', ADMIN_EMAILS: ADMIN })
const call = createFetch(service)
const bookId = await addBook(service)

const transports = bindTaggedClients({
  createCaller: (context) => createRouterClient(app.router, { context }),
  createClient,
  createRestClient,
})

const ifMatch = (tag: string) => ({ context: { headers: { 'if-match': tag } } })
const preconditionFailed = { defined: true, code: 'PRECONDITION_FAILED', status: 412 }
const absent = 987654321

describe.each(Object.entries(transports))('%s', (_, connect) => {
  const person = async (email = newEmail()) => connect(service, { cookie: await service.signIn(email) })

  describe('the ETag of a loan', () => {
    test('stays the same while the loan is unchanged', async () => {
      const { client: ada, tag } = await person()

      const { id } = await ada.loans.create({ bookId, remark: 'Write' })
      const created = tag()
      await ada.loans.get({ id })
      const read = tag()
      await ada.loans.update({ id, remark: 'Write' })

      expect(created).toMatch(/^"[^"]+"$/)
      expect([read, tag()]).toEqual([created, created])
    })

    test.each([{ remark: 'Other' }])('changes with %o', async (changes) => {
      const { client: ada, tag } = await person()
      const { id } = await ada.loans.create({ bookId, remark: 'Write' })
      const before = tag()

      await ada.loans.update({ id, ...changes })
      const changed = tag()
      await ada.loans.get({ id })

      expect(changed).not.toBe(before)
      expect(tag()).toBe(changed)
    })
  })

  describe('the ETag of a book', () => {
    test.each([{ title: 'Other' }, { copies: 5 }])('changes with %o', async (changes) => {
      const { client: admin, tag } = await person(ADMIN)
      const id = await addBook(service)
      await admin.books.get({ id })
      const before = tag()

      await admin.books.update({ id, ...changes })
      const changed = tag()
      await admin.books.get({ id })

      expect(changed).not.toBe(before)
      expect(tag()).toBe(changed)
    })
  })

  describe('a loan', () => {
    test('is changed only if If-Match contains its ETag', async () => {
      const { client: ada, tag } = await person()
      const loan = await ada.loans.create({ bookId, remark: 'Write' })
      const stale = tag()
      const second = await ada.loans.update({ id: loan.id, remark: 'Second' }, ifMatch(stale))

      await expect(ada.loans.update({ id: loan.id, remark: 'Third' }, ifMatch(stale))).rejects.toMatchObject(
        preconditionFailed,
      )

      expect(await ada.loans.get({ id: loan.id })).toEqual(second)
    })

    test('is deleted only if If-Match contains its ETag', async () => {
      const { client: ada, tag } = await person()
      const { id } = await ada.loans.create({ bookId, remark: 'Write' })
      const stale = tag()
      await ada.loans.update({ id, remark: 'Second' })
      const current = tag()

      await expect(ada.loans.return({ id }, ifMatch(stale))).rejects.toMatchObject(preconditionFailed)
      expect(await ada.loans.list()).toMatchObject({ loans: [{ id }] })
      await ada.loans.return({ id }, ifMatch(current))
      expect(await ada.loans.list()).toEqual({ loans: [] })
    })

    test.each([
      ['*', true],
      [' * ', true],
      ['"none", TAG', true],
      ['TAG,"none"', true],
      ['W/TAG', true],
      ['"none", W/TAG', true],
      ['w/TAG', false],
      ['W/"none"', false],
      ['"none"', false],
      ['*, "none"', false],
      ['1', false],
      ['', false],
    ])('is changed only where the condition holds: If-Match: %s', async (condition, holds) => {
      const { client: ada, tag } = await person()
      const { id } = await ada.loans.create({ bookId, remark: 'Write' })
      const asked = ifMatch(condition.replace('TAG', tag()))

      const { isSuccess } = await safe(ada.loans.update({ id, remark: 'Changed' }, asked))

      expect(isSuccess).toBe(holds)
    })

    test('that does not exist matches no ETag', async () => {
      const [{ client: ada }, { client: bob }] = [await person(), await person()]
      const { id } = await bob.loans.create({ bookId, remark: 'His' })

      await expect(ada.loans.update({ id, remark: '' }, ifMatch('*'))).rejects.toMatchObject({
        code: 'NOT_FOUND',
      })
      await expect(ada.loans.return({ id }, ifMatch('*'))).rejects.toMatchObject(preconditionFailed)
      await expect(bob.loans.get({ id })).resolves.toMatchObject({ id })
    })

    test('is changed by only one of many concurrent callers with the same ETag', async () => {
      const { client: ada, tag } = await person()
      const { id } = await ada.loans.create({ bookId, remark: 'Write' })
      const seen = ifMatch(tag())
      const remarks = Array.from({ length: 20 }, (_, index) => `Remark ${index}`)

      const outcomes = await Promise.all(
        remarks.map((remark) => safe(ada.loans.update({ id, remark }, seen))),
      )

      const won = outcomes.filter(({ isSuccess }) => isSuccess)
      expect(won).toHaveLength(1)
      expect(await ada.loans.get({ id })).toEqual(won[0]?.data)
      for (const { error } of outcomes) if (error) expect(error).toMatchObject(preconditionFailed)
    })
  })

  describe('a shelf', () => {
    test('is renamed and shared only if If-Match contains its ETag', async () => {
      const { client: ada, tag } = await person()
      const { id } = await ada.shelves.create({ name: 'Plan' })
      const stale = ifMatch(tag())
      const share = { id, email: 'x@example.com', role: 'reader' } as const
      await ada.shelves.rename({ id, name: 'Second' }, stale)
      const current = tag()

      const late = await Promise.all([
        safe(ada.shelves.rename({ id, name: 'Third' }, stale)),
        safe(ada.shelves.share(share, stale)),
      ])
      for (const { error } of late) expect(error).toMatchObject(preconditionFailed)

      const shared = await ada.shelves.share(share, ifMatch(current))
      expect(shared).toMatchObject({ name: 'Second' })
      expect(await ada.shelves.rename({ id, name: 'Fourth' }, ifMatch(tag()))).toMatchObject({
        name: 'Fourth',
      })
    })

    test('checks the authorization before If-Match', async () => {
      const email = newEmail()
      const [{ client: ada }, { client: bob }] = [await person(), await person(email)]
      const { id } = await ada.shelves.create({ name: 'Plan' })
      await ada.shelves.share({ id, email, role: 'reader' })
      const input = { name: 'His' }

      await expect(bob.shelves.rename({ id, ...input }, ifMatch('"0"'))).rejects.toMatchObject({
        code: 'FORBIDDEN',
      })
      await expect(bob.shelves.rename({ id: absent, ...input }, ifMatch('*'))).rejects.toMatchObject({
        code: 'NOT_FOUND',
      })
    })

    test('is changed by only one of many concurrent editors with the same ETag', async () => {
      const email = newEmail()
      const [{ client: ada }, { client: bob, tag }] = [await person(), await person(email)]
      const { id } = await ada.shelves.create({ name: 'Plan' })
      await ada.shelves.share({ id, email, role: 'editor' })
      await bob.shelves.rename({ id, name: 'His' })
      const seen = ifMatch(tag())

      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, index) => safe(bob.shelves.rename({ id, name: String(index) }, seen))),
      )

      expect(outcomes.filter(({ isSuccess }) => isSuccess)).toHaveLength(1)
    })
  })
})

/** Creates a loan. Returns the path and the ETag of the loan, and the session cookie of its owner. */
async function createLoan() {
  const cookie = await service.signIn(newEmail())
  const { headers, body } = await call('POST', '/api/loans', { bookId, remark: 'Write' }, { cookie })
  const path = `/api/loans/${(body as { id: number }).id}`
  return { cookie, path, tag: headers.get('etag') ?? '' }
}

describe('If-None-Match', () => {
  test.each([
    ['TAG', 304],
    ['W/TAG', 304],
    ['"none", TAG', 304],
    ['*', 304],
    ['"none"', 200],
    ['', 200],
  ])('of %s results in %i', async (condition, status) => {
    const { cookie, path, tag } = await createLoan()

    const headers = { cookie, 'if-none-match': condition.replace('TAG', tag) }
    for (const method of ['GET', 'HEAD']) {
      const answer = await fetch(service.origin + path, { method, headers })

      expect(answer.status).toBe(status)
      expect(answer.headers.get('etag')).toBe(tag)
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(answer.headers.has('content-type')).toBe(status === 200)
      expect(answer.headers.has('content-length')).toBe(status === 200)
      expect((await answer.text()) === '').toBe(status === 304 || method === 'HEAD')
    }
  })

  test('results in 200 after a change of the loan', async () => {
    const { cookie, path, tag } = await createLoan()
    await call('PATCH', path, { remark: 'Changed' }, { cookie })

    const { status } = await call('GET', path, undefined, { cookie, 'if-none-match': tag })

    expect(status).toBe(200)
  })

  test('is evaluated after authentication, and for existing loans only', async () => {
    const { cookie, path } = await createLoan()
    const any = { 'if-none-match': '*' }

    expect((await call('GET', path, undefined, any)).status).toBe(401)
    expect((await call('GET', '/api/loans/0', undefined, { cookie, ...any })).status).toBe(404)
  })

  test('does not affect a change', async () => {
    const { cookie, path, tag } = await createLoan()

    const { status } = await call('PATCH', path, { remark: 'Changed' }, { cookie, 'if-none-match': tag })

    expect(status).toBe(200)
  })
})

describe('If-Match', () => {
  test('does not hide a malformed path', async () => {
    const { cookie } = await createLoan()

    const answer = await call('DELETE', '/api/loans/abc', undefined, { cookie, 'if-match': '"1"' })

    expect(answer).toMatchObject({ status: 400, body: { data: { issues: [{ path: 'id' }] } } })
  })

  test('is evaluated after authentication', async () => {
    const { path } = await createLoan()

    expect((await call('DELETE', path, undefined, { 'if-match': '"0"' })).status).toBe(401)
  })
})

describe('an ETag', () => {
  test('can be read by pages of trusted origins', async () => {
    const { cookie, path } = await createLoan()

    const { headers } = await call('GET', path, undefined, { cookie, origin: 'https://trusted.example' })

    expect(headers.get('access-control-expose-headers')?.split(',')).toContain('etag')
  })

  test('is not part of a body', async () => {
    const { cookie, path } = await createLoan()

    const { body } = await call('GET', path, undefined, { cookie })

    expect(Object.keys(body as object).sort()).toEqual(['bookId', 'createdAt', 'id', 'remark', 'title'])
  })
})
