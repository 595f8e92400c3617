import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'

import { addBook } from '../fixtures/books.ts'
import { createRawFetch } from '../fixtures/http.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const ADMIN = 'admin@example.com'

const service = await startService({ ADMIN_EMAILS: ADMIN })

const COMPRESSED = { 'accept-encoding': 'gzip, deflate, br' }
const json = { 'content-type': 'application/json' }
const long = 'The same words. '.repeat(100)

describe('procedures', () => {
  const exchange = createRawFetch(service)
  const signIn = async (email = newEmail()) => ({ cookie: await service.signIn(email) })

  /** Creates a loan with a long remark. Returns the path of the loan, and the cookie of the borrower. */
  async function createLoan() {
    const ada = await signIn()
    const bookId = await addBook(service)
    const { id } = await service.client(ada).loans.create({ bookId, remark: long })
    return { ada, path: `/api/loans/${id}` }
  }

  const reads = {
    'over REST': { method: 'GET', path: '/api/loans', headers: {} },
    'with a query': { method: 'GET', path: '/api/loans?limit=10', headers: {} },
    'over RPC': { method: 'POST', path: '/rpc/loans/list', headers: json, body: '{}' },
  }

  test.each(Object.entries(reads))('compress a large answer %s on request', async (_, read) => {
    const { ada } = await createLoan()
    const { method, path, headers } = read
    const body = 'body' in read ? read.body : undefined
    const send = (more: object) => exchange(method, path, { ...headers, ...ada, ...more }, body)

    const plain = await send({})
    expect(plain.headers).not.toHaveProperty('content-encoding')
    expect(plain.body.toString()).toContain(long)
    for (const [coding, decode] of Object.entries({ br: brotliDecompressSync, gzip: gunzipSync })) {
      const answer = await send({ 'accept-encoding': coding })
      expect(answer.headers).toMatchObject({
        'content-encoding': coding,
        'content-length': String(answer.body.length),
        'content-type': 'application/json',
        vary: expect.stringContaining('Accept-Encoding'),
      })
      expect(answer.body.length).toBeLessThan(plain.body.length / 2)
      expect(decode(answer.body).equals(plain.body)).toBe(true)
    }
  })

  test('compress an answer to a Datastar page', async () => {
    const ada = await signIn()
    for (let index = 0; index < 15; index++)
      await service.client(ada).shelves.create({ name: long.slice(0, 95) })

    const { headers, body } = await exchange('GET', '/api/shelves', {
      ...ada,
      ...COMPRESSED,
      'datastar-request': 'true',
    })

    expect(headers).toMatchObject({ 'content-encoding': 'br', 'content-type': 'text/event-stream' })
    expect(brotliDecompressSync(body).toString()).toContain('The same words.')
  })

  test('do not compress a small answer, or for a client that does not accept it', async () => {
    const { ada } = await createLoan()

    const small = await exchange('GET', '/api/me', { ...ada, ...COMPRESSED })
    const refused = await exchange('GET', '/api/loans', { ...ada, 'accept-encoding': 'br;q=0, gzip;q=0' })

    for (const { status, headers } of [small, refused]) {
      expect(status).toBe(200)
      expect(headers).not.toHaveProperty('content-encoding')
    }
  })

  test('send the headers of GET for HEAD', async () => {
    const { ada, path } = await createLoan()
    const varying = { date: '', 'x-request-id': '' }

    const get = await exchange('GET', path, { ...ada, ...COMPRESSED })
    const head = await exchange('HEAD', path, { ...ada, ...COMPRESSED })

    expect({ ...head.headers, ...varying }).toEqual({ ...get.headers, ...varying })
    expect(head.headers['content-encoding']).toBe('br')
    expect(head.body.length).toBe(0)
  })

  test('make the ETag of a compressed answer weak, and accept the weak ETag', async () => {
    const { ada, path } = await createLoan()
    const plain = await exchange('GET', path, ada)
    const { headers } = await exchange('GET', path, { ...ada, ...COMPRESSED })
    const tag = String(headers.etag)

    const again = await exchange('GET', path, { ...ada, ...COMPRESSED, 'if-none-match': tag })
    const change = (ifMatch: string) =>
      exchange('PATCH', path, { ...ada, ...json, 'if-match': ifMatch }, '{"remark":"Two"}')

    expect(tag).toBe(`W/${String(plain.headers.etag)}`)
    expect([again.status, again.headers.etag, again.body.length]).toEqual([304, tag, 0])
    expect(again.headers).not.toHaveProperty('content-encoding')
    expect((await change(tag)).status).toBe(200)
    expect((await change(tag)).status).toBe(412)
  })

  test('never compress session tokens, and forbid it to proxies', async () => {
    const email = newEmail()
    const cookies = []
    for (let index = 0; index < 8; index++) cookies.push(await service.signIn(email))
    const headers = { cookie: cookies[0] ?? '', ...COMPRESSED }

    const answers = [
      await exchange('GET', '/api/sessions', headers),
      await exchange('GET', '/api/sessions?limit=1000', headers),
      await exchange('POST', '/rpc/sessions/list', { ...headers, ...json }, '{}'),
    ]

    for (const { status, headers, body } of answers) {
      expect(status).toBe(200)
      expect(body.length).toBeGreaterThan(1024)
      expect(headers).not.toHaveProperty('content-encoding')
      expect(headers['cache-control']).toBe('no-store, no-transform')
    }
  })

  test('never compress the audit trail, and forbid it to proxies', async () => {
    for (let index = 0; index < 6; index++) await signIn()
    const admin = await signIn(ADMIN)

    const { status, headers, body } = await exchange('GET', '/api/audit', { ...admin, ...COMPRESSED })

    expect(status).toBe(200)
    expect(body.length).toBeGreaterThan(1024)
    expect(headers).not.toHaveProperty('content-encoding')
    expect(headers['cache-control']).toBe('no-store, no-transform')
  })

  test('never compress the export of an account, and forbid it to proxies', async () => {
    const headers = { ...(await signIn()), ...COMPRESSED }
    await exchange(
      'POST',
      '/api/loans',
      { ...headers, ...json },
      JSON.stringify({ bookId: await addBook(service), remark: 'x'.repeat(2000) }),
    )

    const answer = await exchange('GET', '/api/me/export', headers)

    expect(answer.status).toBe(200)
    expect(answer.body.length).toBeGreaterThan(1024)
    expect(answer.headers).not.toHaveProperty('content-encoding')
    expect(answer.headers['cache-control']).toBe('no-store, no-transform')
  })

  test('do not compress an answer of an endpoint outside the contract', async () => {
    for (let index = 0; index < 6; index++) await signIn()
    const admin = await signIn(ADMIN)

    const { status, headers, body } = await exchange('GET', '/api/auth/admin/list-users', {
      ...admin,
      ...COMPRESSED,
    })

    expect(status).toBe(200)
    expect(body.length).toBeGreaterThan(1024)
    expect(headers).not.toHaveProperty('content-encoding')
  })
})
