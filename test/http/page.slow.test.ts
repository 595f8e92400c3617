import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'

import { paths } from '../../app/paths.ts'
import { createFetch, createRawFetch } from '../fixtures/http.ts'
import { startService } from '../fixtures/service.ts'

const service = await startService()
const call = createFetch(service)
const rawFetch = createRawFetch(service)

const folder = 'dist/pages/app'
const assets = readdirSync(join(folder, 'assets')).filter((name) => !/\.(br|gz)$/.test(name))
const index = readFileSync(join(folder, 'index.html'), 'utf8')

/** The limit of issue and budget, in bytes. Languages are loaded on demand, each for itself. */
const MAX_SCRIPT = 120_000

describe('the page', () => {
  test.each(paths)('is served at %s, and is revalidated', async (path) => {
    const { status, headers, body } = await call('GET', path)

    expect({ status, body }).toEqual({ status: 200, body: index })
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(headers.get('cache-control')).toBe('no-cache')
    const unchanged = await call('GET', path, undefined, { 'if-none-match': headers.get('etag') ?? '' })
    expect(unchanged.status).toBe(304)
  })

  test('allows scripts, styles and requests of its own origin only', async () => {
    const { headers } = await call('GET', '/')

    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(index).not.toMatch(/<script(?![^>]*src=)|<style|style=|\son\w+=|https?:/)
  })

  test.each(['br', 'gzip'])('has assets that caches store forever, compressed with %s', async (coding) => {
    expect(assets.length).toBeGreaterThan(1)
    for (const name of assets) {
      const { status, headers } = await rawFetch('GET', `/assets/${name}`, { 'accept-encoding': coding })

      expect(status, name).toBe(200)
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
      expect(headers['content-encoding']).toBe(coding)
    }
  })

  test('leaves every other path to the API', async () => {
    for (const path of [
      '/index.html',
      '/tasks.html',
      '/tasks/',
      '/tasks/1',
      '/assets',
      '/assets/',
      '/views',
      '/main.tsx',
    ])
      expect(await call('GET', path)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
    expect(await call('POST', '/')).toMatchObject({ status: 405 })
  })

  test('answers HEAD requests, with a query too', async () => {
    expect(await rawFetch('HEAD', '/?from=mail')).toMatchObject({ status: 200, body: Buffer.alloc(0) })
  })
})

describe('the build of the page', () => {
  test('needs at most 120 kB of JavaScript in each language', () => {
    const sizes = assets
      .filter((name) => name.endsWith('.js'))
      .map((name) => ({
        name,
        size: gzipSync(readFileSync(join(folder, 'assets', name)), { level: 9 }).length,
      }))
    const isEntry = ({ name }: { name: string }) => index.includes(name)
    const entry = sizes.filter(isEntry).reduce((sum, { size }) => sum + size, 0)
    const largest = Math.max(0, ...sizes.filter((file) => !isEntry(file)).map(({ size }) => size))

    expect(entry).toBeGreaterThan(50_000)
    expect(entry + largest).toBeLessThan(MAX_SCRIPT)
  })
})
