import { once } from 'node:events'
import { truncate } from 'node:fs/promises'
import { type IncomingMessage, request as sendRequest } from 'node:http'
import { join } from 'node:path'

import { endpoint } from 'tallystick'
import { describe, expect, onTestFinished, test, vi } from 'vitest'

import { download, openFiles } from '../../http/files/index.ts'
import { rateLimit, startEndpoints } from '../fixtures/endpoints-app.ts'
import { PATIENCE } from '../fixtures/patience.ts'
import { BUCKET, createFolder, startS3 } from './s3.ts'

const s3 = await startS3()
const folder = createFolder()
const storages = {
  folder: await openFiles(folder),
  bucket: await openFiles(`s3://${BUCKET}`, s3.options),
  redirected: await openFiles(`s3://${BUCKET}`, { ...s3.options, redirect: 60 }),
}
type Storage = keyof typeof storages
const isStorage = (name: string): name is Storage => name in storages
const kinds: Storage[] = ['folder', 'bucket']

const MAX_BYTES = 8 * 2 ** 20
const TEXT = 'The lamp is dark.'

/** Stored files by key, as rows of an application describe them. */
const rows = new Map<string, { key: string; size: number; type: string; name: string }>()

const path = '/storages/{storage}/{key}'
const storageOf = ({ storage }: { storage: string }) =>
  isStorage(storage) ? storages[storage] : storages.folder
const service = await startEndpoints({
  upload: endpoint(
    {
      ...{ method: 'POST', path, body: 'stream', maxBytes: MAX_BYTES, timeout: 20, rateLimit },
      types: ['text/*', 'application/pdf'],
    },
    async ({ request, params, body }) => {
      const stored = await storageOf(params).put(body)
      const type = request.headers.get('content-type') ?? ''
      rows.set(stored.key, { ...stored, type, name: decodeURIComponent(params.key) })
      return Response.json(stored)
    },
  ),
  download: endpoint({ method: 'GET', path, timeout: 20, rateLimit }, ({ request, params }) => {
    const row = rows.get(params.key)
    return row ? download(request, storageOf(params), row) : new Response(null, { status: 404 })
  }),
})

const urlOf = (storage: Storage, key: string) =>
  `${service.origin}/storages/${storage}/${encodeURIComponent(key)}`

async function upload(
  storage: Storage,
  body: string | Buffer = TEXT,
  { name = 'a.txt', type = 'text/plain' } = {},
) {
  const answer = await fetch(urlOf(storage, name), {
    method: 'POST',
    body,
    headers: { 'content-type': type },
  })
  return { status: answer.status, ...((await answer.json()) as { key: string; size: number }) }
}

const fetchFile = (storage: Storage, key: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(urlOf(storage, key), { headers, method, redirect: 'manual' })

async function keysOf(storage: Storage) {
  const keys: string[] = []
  for await (const { key } of storages[storage].list()) keys.push(key)
  return keys
}

describe.each(kinds)('a download from a %s', (storage) => {
  test('is an attachment, whose scripts do not run', async () => {
    const { key } = await upload(storage, '<script>alert(1)</script>', { name: 'a.html', type: 'text/html' })

    const answer = await fetchFile(storage, key)

    expect(await answer.text()).toBe('<script>alert(1)</script>')
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/html',
      'content-length': '25',
      'content-disposition': 'attachment; filename=a.html',
      'content-security-policy': "default-src 'none';frame-ancestors 'none', sandbox",
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
      'cache-control': 'no-store',
      etag: `"${key}"`,
    })
  })

  test.each([
    ['bytes=1-3', 206, 'he ', 'bytes 1-3/17'],
    ['bytes=4-', 206, 'lamp is dark.', 'bytes 4-16/17'],
    ['bytes=-5', 206, 'dark.', 'bytes 12-16/17'],
    ['bytes=-100', 206, TEXT, 'bytes 0-16/17'],
    ['bytes=12-99999999999999999999', 206, 'dark.', 'bytes 12-16/17'],
    ['bytes=16-16', 206, '.', 'bytes 16-16/17'],
    ['BYTES= 16-16 ', 206, '.', 'bytes 16-16/17'],
    ['bytes=17-', 416, '', 'bytes */17'],
    ['bytes=-0', 416, '', 'bytes */17'],
    ['bytes=3-1', 200, TEXT, null],
    ['bytes=0-1,3-4', 200, TEXT, null],
    ['bytes=-', 200, TEXT, null],
    ['bytes=1.5-', 200, TEXT, null],
    ['lines=1-2', 200, TEXT, null],
  ])('answers the range %s with %d', async (range, status, text, contentRange) => {
    const { key } = await upload(storage)

    const answer = await fetchFile(storage, key, { range })

    expect([answer.status, answer.headers.get('content-range')]).toEqual([status, contentRange])
    expect(await answer.text()).toBe(text)
  })

  test('continues only the same file', async () => {
    const { key } = await upload(storage)
    const statusOf = async (ifRange: string) =>
      (await fetchFile(storage, key, { range: 'bytes=1-', 'if-range': ifRange })).status

    expect(await statusOf(`"${key}"`)).toBe(206)
    expect(await statusOf('"another"')).toBe(200)
    expect(await statusOf(`W/"${key}"`)).toBe(200)
    expect(await statusOf(new Date().toUTCString())).toBe(200)
  })

  test('is 304 for a client that has the file, and HEAD has no body', async () => {
    const { key } = await upload(storage)

    const known = await fetchFile(storage, key, { 'if-none-match': `"other", "${key}"` })
    const head = await fetchFile(storage, key, { range: 'bytes=1-2' }, 'HEAD')

    expect([known.status, await known.text()]).toEqual([304, ''])
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '17', ''])
  })

  test('can be empty', async () => {
    const { key } = await upload(storage, Buffer.alloc(0))

    expect(await (await fetchFile(storage, key)).text()).toBe('')
    expect((await fetchFile(storage, key, { range: 'bytes=0-' })).status).toBe(416)
  })

  test('is 404 if the storage has lost the file', async () => {
    const { key } = await upload(storage)
    await storages[storage].remove(key)

    const answer = await fetchFile(storage, key)
    const head = await fetchFile(storage, key, {}, 'HEAD')

    expect([answer.status, await answer.json()]).toMatchObject([404, { code: 'NOT_FOUND' }])
    expect(head.status).toBe(404)
  })

  test('is not read for HEAD', async () => {
    const { key } = await upload(storage)
    const { get } = storages[storage]
    let body: Awaited<ReturnType<typeof get>>
    const spy = vi
      .spyOn(storages[storage], 'get')
      .mockImplementation(async (...request) => (body = await get(...request)))
    onTestFinished(() => {
      spy.mockRestore()
    })

    await fetchFile(storage, key, {}, 'HEAD')

    await expect(body?.getReader().closed).resolves.toBeUndefined()
  })

  test('does not disturb the service if the client leaves', async () => {
    const { key } = await upload(storage, Buffer.alloc(MAX_BYTES))
    for (let count = 0; count < 10; count++) {
      const sent = sendRequest(urlOf(storage, key), { agent: false }).end()
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      response.on('error', () => undefined).destroy()
      await once(response, 'close')
    }

    const all = await (await fetchFile(storage, key)).arrayBuffer()

    expect(all.byteLength).toBe(MAX_BYTES)
  })
})

describe('the name of a download', () => {
  test.each([
    ['quo"te.txt', 'attachment; filename="quo\\"te.txt"'],
    ['back\\slash/../a.txt', 'attachment; filename=back_slash_.._a.txt'],
    ['a\r\nset-cookie: b=c', 'attachment; filename="a__set-cookie: b=c"'],
    ['gpj\u202Eexe.txt', 'attachment; filename=gpj_exe.txt'],
    [
      'Grüße 世界.txt',
      `attachment; filename="Gr??e ??.txt"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%20%E4%B8%96%E7%95%8C.txt`,
    ],
    ['100%41.txt', `attachment; filename=100%41.txt; filename*=UTF-8''100%2541.txt`],
    [' ', 'attachment; filename=file'],
    ['\u0000', 'attachment; filename=_'],
  ])('is safe: %j', async (name, disposition) => {
    const { key } = await upload('folder')
    const row = rows.get(key)
    if (row) rows.set(key, { ...row, name })

    const answer = await fetchFile('folder', key)

    expect([answer.status, answer.headers.get('content-disposition')]).toEqual([200, disposition])
    expect(answer.headers.has('set-cookie')).toBe(false)
  })

  test('can be half a character', async () => {
    const { key } = await upload('folder')
    const row = rows.get(key)
    if (row) rows.set(key, { ...row, name: 'a\uD800.txt' })

    expect((await fetchFile('folder', key)).headers.get('content-disposition')).toContain('%EF%BF%BD.txt')
  })
})

test('the connection breaks if the storage has less bytes than the row', async () => {
  const { key } = await upload('folder')
  await truncate(join(folder, key), 4)

  await expect(fetchFile('folder', key).then((answer) => answer.text())).rejects.toThrow()
  expect((await fetchFile('folder', (await upload('folder')).key)).status).toBe(200)
})

describe.each(kinds)('an upload to a %s', (storage) => {
  test('has the number of bytes that arrived', async () => {
    expect(await upload(storage, Buffer.alloc(6 * 2 ** 20))).toMatchObject({ status: 200, size: 6 * 2 ** 20 })
  })

  test('is refused with 413 if it is too large, also without a declared length, and stores nothing', async () => {
    const before = await keysOf(storage)
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(new Uint8Array(65_536))
      },
    })

    const declared = await upload(storage, Buffer.alloc(MAX_BYTES + 1))
    const streamed = await fetch(urlOf(storage, 'a'), {
      ...{ method: 'POST', body: endless, duplex: 'half' as const },
      headers: { 'content-type': 'text/plain' },
    })

    expect([declared.status, streamed.status]).toEqual([413, 413])
    expect(await keysOf(storage)).toEqual(before)
  })

  test('is refused with 415 if its type is not declared', async () => {
    expect((await upload(storage, TEXT, { type: 'image/png' })).status).toBe(415)
    expect((await upload(storage, TEXT, { type: 'text' })).status).toBe(415)
  })

  test('stores nothing if the client leaves, or sends less than it declares', async () => {
    const before = await keysOf(storage)
    const put = vi.spyOn(storages[storage], 'put')
    const sent = sendRequest(urlOf(storage, 'a'), {
      ...{ method: 'POST', agent: false },
      headers: { 'content-type': 'text/plain', 'content-length': '7000000' },
    })
    sent.on('error', () => undefined)
    sent.write(Buffer.alloc(6_000_000))
    await vi.waitFor(() => {
      expect(put).toHaveBeenCalled()
    }, PATIENCE)
    sent.destroy()

    await expect(put.mock.results[0]?.value).rejects.toThrow('The body ended early')
    expect(await keysOf(storage)).toEqual(before)
    put.mockRestore()
  })
})

describe('a redirect', () => {
  const follow = async (location: string) => {
    const answer = await fetch(location)
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }
  const locationOf = async (key: string) => {
    const answer = await fetchFile('redirected', key)
    expect([answer.status, await answer.text(), answer.headers.get('cache-control')]).toEqual([
      302,
      '',
      'no-store',
    ])
    return answer.headers.get('location') ?? ''
  }

  test('leads to the bucket, which answers with the type and the name', async () => {
    const { key } = await upload('redirected', TEXT, { name: 'a "b" ü.txt' })

    const { status, text, headers } = await follow(await locationOf(key))

    expect([status, text]).toEqual([200, TEXT])
    expect(headers.get('content-type')).toContain('text/plain')
    expect(headers.get('content-disposition')).toBe(
      `attachment; filename="a \\"b\\" ?.txt"; filename*=UTF-8''a%20%22b%22%20%C3%BC.txt`,
    )
  })

  test('is refused if it is unsigned, altered, or expired', async () => {
    const location = await locationOf((await upload('redirected')).key)
    const other = (await upload('redirected')).key
    const altered = location.replace(/[\da-f-]{36}/, other)

    expect((await follow(location)).status).toBe(200)
    expect((await follow(location.replace(/\?.*/, ''))).status).toBe(403)
    expect((await follow(altered)).status).toBe(403)
    expect((await follow(location.replace('X-Amz-Expires=60', 'X-Amz-Expires=9999'))).status).toBe(403)
    s3.state.now = () => new Date(Date.now() + 62_000)
    expect((await follow(location)).status).toBe(403)
    s3.state.now = () => new Date()
  })
})
