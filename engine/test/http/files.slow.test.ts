import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'

import { createFetch, createRawFetch, notFound } from '../fixtures/http.ts'
import { startService } from '../fixtures/service.ts'

const service = await startService()
const call = createFetch(service)

const exchange = createRawFetch(service)

/** The addresses of the script and the stylesheet of the reference page. */
const page = String((await call('GET', '/docs')).body)
const assets = [...page.matchAll(/(?:src|href)="(\/docs\/[^"]+)"/g)].map(([, path = '']) => path)

const compressed = ['/api/openapi.json', '/docs', ...assets]

describe('a file', () => {
  test.each(compressed)('is sent with the coding that the client prefers: %s', async (path) => {
    const plain = await exchange('GET', path)
    const codings = {
      br: brotliDecompressSync,
      gzip: gunzipSync,
      'br;q=0, gzip': gunzipSync,
      'br;q=0.5, gzip;q=0.9': gunzipSync,
      'gzip, deflate, br, zstd': brotliDecompressSync,
      '*': brotliDecompressSync,
    }

    for (const [accepted, decode] of Object.entries(codings)) {
      const { status, headers, body } = await exchange('GET', path, { 'accept-encoding': accepted })
      expect([status, headers['content-encoding']]).toEqual([200, decode === gunzipSync ? 'gzip' : 'br'])
      expect(headers['content-length']).toBe(String(body.length))
      expect(body.length).toBeLessThan(plain.body.length)
      expect(decode(body).equals(plain.body)).toBe(true)
      expect(headers.vary).toBe('Accept-Encoding, Origin')
    }
  })

  test.each(compressed)('is not compressed for a client that does not accept it: %s', async (path) => {
    for (const accepted of ['identity', 'deflate', 'br;q=0', 'br;q=0.5, identity', '*;q=0', ''])
      expect((await exchange('GET', path, { 'accept-encoding': accepted })).headers).not.toHaveProperty(
        'content-encoding',
      )
  })

  test.each(compressed)(
    'has a strong ETag for each coding, which a client can revalidate: %s',
    async (path) => {
      const tags = []
      for (const accepted of ['br', 'gzip', 'identity']) {
        const encoding = { 'accept-encoding': accepted }
        const { headers } = await exchange('GET', path, encoding)
        const tag = String(headers.etag)
        tags.push(tag)
        for (const condition of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
          const again = await exchange('GET', path, { ...encoding, 'if-none-match': condition })
          expect([again.status, again.headers.etag, again.body.length]).toEqual([304, tag, 0])
          expect(again.headers.vary).toBe(headers.vary)
          expect(again.headers['cache-control']).toBe(headers['cache-control'])
        }
        const changed = await exchange('GET', path, { ...encoding, 'if-none-match': '"other"' })
        expect(changed.status).toBe(200)
      }
      expect(new Set(tags).size).toBe(3)
      for (const tag of tags) expect(tag).toMatch(/^"[\w-]{22}"$/)
    },
  )

  test.each(compressed)('gets the same headers with HEAD, without a body: %s', async (path) => {
    const encoding = { 'accept-encoding': 'br' }
    const [get, head] = [await exchange('GET', path, encoding), await exchange('HEAD', path, encoding)]
    const varying = { date: '', 'x-request-id': '' }

    expect(head.body.length).toBe(0)
    expect({ ...head.headers, ...varying }).toEqual({ ...get.headers, ...varying })
  })

  test('is cached forever if its name contains a hash, and otherwise revalidated', async () => {
    expect(assets).toHaveLength(2)
    for (const path of assets) {
      expect(path).toMatch(/-[A-Z\d]{8}\.(js|css)$/)
      const { headers } = await call('GET', path)
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    }
    expect((await call('GET', '/docs')).headers.get('cache-control')).toBe('no-cache')
    const document = await call('GET', '/api/openapi.json')
    expect(document.headers.get('cache-control')).toBe('public, max-age=300')
  })

  test.each([
    '/docs/index.html',
    '/docs/assets',
    '/docs/assets/',
    '/docs/assets/main-00000000.js',
    `${assets[0] ?? ''}.br`,
    '/docs/assets/..%2findex.html',
    '/docs/assets/%2e%2e/%2e%2e/%2e%2e/package.json',
    '/docs/__proto__',
  ])('does not exist at %s', async (path) => {
    const { status, headers, body } = await exchange('GET', path)

    expect(status).toBe(404)
    expect(JSON.parse(body.toString())).toEqual(notFound)
    expect(headers['cache-control']).toBe('no-store')
  })
})
