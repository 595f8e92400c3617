import { describe, expect, test } from 'vitest'

import { addBook } from '../fixtures/books.ts'
import { createFetch } from '../fixtures/http.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService({ TRUSTED_PROXIES: 'loopback', RATE_LIMITS: 'on' })
const call = createFetch(service)
const cookie = await service.signIn(newEmail())
const bookId = await addBook(service)

/** Returns a list with an element at a position, counted from 1. */
const listWith = (element: string, position: number, filler: string) =>
  [...Array.from({ length: position - 1 }, () => filler), element].join(', ')

async function lend() {
  const { headers, body } = await call('POST', '/api/loans', { bookId, remark: 'Write' }, { cookie })
  return { path: `/api/loans/${(body as { id: number }).id}`, tag: headers.get('etag') ?? '' }
}

async function addShelf() {
  const { headers, body } = await call('POST', '/api/shelves', { name: 'Physics' }, { cookie })
  return { path: `/api/shelves/${(body as { id: number }).id}`, tag: headers.get('etag') ?? '' }
}

describe('If-Match', () => {
  test.each([
    ['a version', lend, { remark: 'Other' }],
    ['a locked row', addShelf, { name: 'Other' }],
  ])('accepts 50 tags, and is rejected with more, for %s', async (_, create, changes) => {
    const { path, tag } = await create()
    const send = (position: number) =>
      call('PATCH', path, changes, { cookie, 'if-match': listWith(tag, position, '"x"') })

    const tooMany = await send(51)
    const enough = await send(50)

    expect(tooMany).toMatchObject({
      status: 400,
      body: { code: 'BAD_REQUEST', message: 'If-Match may have at most 50 entity tags' },
    })
    expect(enough.status).toBe(200)
  })
})

describe('If-None-Match', () => {
  test.each([
    ['a procedure', async () => (await lend()).path],
    ['a file', () => Promise.resolve('/docs')],
  ])('is read up to the 50th tag, for %s', async (_, find) => {
    const path = await find()
    const { headers } = await call('GET', path, undefined, { cookie })
    const tag = headers.get('etag') ?? ''
    const send = async (position: number) =>
      (await call('GET', path, undefined, { cookie, 'if-none-match': listWith(tag, position, '"x"') })).status

    expect([await send(50), await send(51)]).toEqual([304, 200])
  })
})

describe('X-Forwarded-For', () => {
  test('is read from its end, up to the 50th address', async () => {
    const send = async (proxies: number) => {
      const list = ['198.51.100.1', ...Array.from({ length: proxies }, () => '127.0.0.1')].join()
      return (await call('POST', '/api/visits/add', undefined, { 'x-forwarded-for': list })).status
    }

    // The limit is three visits of an address.
    expect([await send(49), await send(49), await send(49), await send(49)]).toEqual([200, 200, 200, 429])
    expect(await send(50)).toBe(200)
  })
})
