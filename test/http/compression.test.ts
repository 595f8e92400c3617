import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'

import { createRawFetch } from '../../engine/test/fixtures/http.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const ADMIN = 'admin@example.com'

const service = await startService({ ADMIN_EMAILS: ADMIN })

const COMPRESSED = { 'accept-encoding': 'gzip, deflate, br' }
const json = { 'content-type': 'application/json' }
const long = 'The same words. '.repeat(200)

describe('procedures', () => {
  const exchange = createRawFetch(service)
  const signIn = async (email = newEmail()) => ({ cookie: await service.signIn(email) })

  /** Creates a task with a long description. Returns the path of the task, and the cookie of its owner. */
  async function createTask() {
    const ada = await signIn()
    const { id } = await service.client(ada).tasks.create({ taskTitle: 'One', taskDesc: long })
    return { ada, path: `/api/tasks/${id}` }
  }

  const reads = {
    'over REST': { method: 'GET', path: '/api/tasks', headers: {} },
    'with a query': { method: 'GET', path: '/api/tasks?status=pending', headers: {} },
    'over RPC': { method: 'POST', path: '/rpc/tasks/list', headers: json, body: '{}' },
  }

  test.each(Object.entries(reads))('compress a large answer %s on request', async (_, read) => {
    const { ada } = await createTask()
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
    await service.client(ada).legacyNotes.create({ newNote: long })

    const { headers, body } = await exchange('GET', '/api/notes', {
      ...ada,
      ...COMPRESSED,
      'datastar-request': 'true',
    })

    expect(headers).toMatchObject({ 'content-encoding': 'br', 'content-type': 'text/event-stream' })
    expect(brotliDecompressSync(body).toString()).toContain('The same words.')
  })

  test('do not compress a small answer, or for a client that does not accept it', async () => {
    const { ada } = await createTask()

    const small = await exchange('GET', '/api/me', { ...ada, ...COMPRESSED })
    const refused = await exchange('GET', '/api/tasks', { ...ada, 'accept-encoding': 'br;q=0, gzip;q=0' })

    for (const { status, headers } of [small, refused]) {
      expect(status).toBe(200)
      expect(headers).not.toHaveProperty('content-encoding')
    }
  })

  test('send the headers of GET for HEAD', async () => {
    const { ada, path } = await createTask()
    const varying = { date: '', 'x-request-id': '' }

    const get = await exchange('GET', path, { ...ada, ...COMPRESSED })
    const head = await exchange('HEAD', path, { ...ada, ...COMPRESSED })

    expect({ ...head.headers, ...varying }).toEqual({ ...get.headers, ...varying })
    expect(head.headers['content-encoding']).toBe('br')
    expect(head.body.length).toBe(0)
  })

  test('make the ETag of a compressed answer weak, and accept the weak ETag', async () => {
    const { ada, path } = await createTask()
    const plain = await exchange('GET', path, ada)
    const { headers } = await exchange('GET', path, { ...ada, ...COMPRESSED })
    const tag = String(headers.etag)

    const again = await exchange('GET', path, { ...ada, ...COMPRESSED, 'if-none-match': tag })
    const change = (ifMatch: string) =>
      exchange('PATCH', path, { ...ada, ...json, 'if-match': ifMatch }, '{"title":"Two"}')

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
      '/api/notes',
      { ...headers, ...json },
      JSON.stringify({ title: 'x', body: 'x'.repeat(2000) }),
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

  test('do not compress notes of the caller together with notes of other people', async () => {
    const email = newEmail()
    const [ada, bob] = [await signIn(email), await signIn()]
    await service.client(ada).notes.create({ title: 'Own', body: long })
    const list = () => exchange('GET', '/api/notes', { ...ada, ...COMPRESSED })

    const own = await list()
    const { id } = await service.client(bob).notes.create({ title: 'Guess', body: '' })
    await service.client(bob).notes.share({ id, email, role: 'reader' })
    const mixed = await list()

    expect(own.headers).toMatchObject({ 'content-encoding': 'br', 'cache-control': 'no-store' })
    expect(mixed.headers['cache-control']).toBe('no-store, no-transform')
    expect(mixed.headers).not.toHaveProperty('content-encoding')
    expect(mixed.body.toString()).toContain('Guess')
  })
})
