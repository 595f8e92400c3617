import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'

import { languages } from '../../engine/contract/languages.ts'
import { readPaths } from '../../engine/dev/project/page-paths.ts'
import { texts } from '../../engine/texts/messages/en.ts'
import * as english from '../../src/messages/en.ts'
import { createFetch, createRawFetch } from '../../engine/test/fixtures/http.ts'
import { startService } from '../fixtures/service.ts'

const service = await startService()
const call = createFetch(service)
const rawFetch = createRawFetch(service)

const folder = 'dist/pages/app'
const assets = readdirSync(join(folder, 'assets')).filter((name) => !/\.(br|gz)$/.test(name))
const index = readFileSync(join(folder, 'index.html'), 'utf8')

/** The limit of issue and budget, in bytes. Languages are loaded on demand, each for itself. */
const MAX_SCRIPT = 130_000

describe('the page', () => {
  test.each(readPaths('app/views.ts'))('is served at %s, and is revalidated', async (path) => {
    const { status, headers, body } = await call('GET', path)

    expect({ status, body }).toEqual({ status: 200, body: index })
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(headers.get('cache-control')).toBe('no-cache')
    const unchanged = await call('GET', path, undefined, { 'if-none-match': headers.get('etag') ?? '' })
    expect(unchanged.status).toBe(304)
  })

  test('has an icon that browsers keep for an hour, because they request it several times for one page', async () => {
    const { status, headers } = await call('GET', '/icon.svg')

    expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=3600'])
  })

  test('allows scripts, styles and requests of its own origin only', async () => {
    const { headers } = await call('GET', '/')

    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
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
      // Fonts are compressed by their format.
      expect(headers['content-encoding']).toBe(name.endsWith('.woff2') ? undefined : coding)
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
  test('needs at most 130 kB of JavaScript for the first view, in each language', () => {
    const sizes = assets
      .filter((name) => name.endsWith('.js'))
      .map((name) => ({
        name,
        size: gzipSync(readFileSync(join(folder, 'assets', name)), { level: 9 }).length,
      }))
    const sizeOf = (isPart: (name: string) => boolean) =>
      sizes.filter(({ name }) => isPart(name)).reduce((sum, { size }) => sum + size, 0)
    const entry = sizeOf((name) => index.includes(name))
    // A language has two files: the texts of every application, and the texts of the service.
    const ofLanguages = languages.map((language) => sizeOf((name) => name.startsWith(`${language}-`)))

    expect(entry).toBeGreaterThan(50_000)
    expect(Math.min(...ofLanguages)).toBeGreaterThan(3_000)
    expect(entry + Math.max(...ofLanguages)).toBeLessThan(MAX_SCRIPT)
  })

  test('contains no texts of the server', () => {
    const scripts = assets.filter((name) => name.endsWith('.js'))
    const contain = (text: string) =>
      scripts.filter((name) => readFileSync(join(folder, 'assets', name), 'utf8').includes(text))

    expect(contain(english.page.introduction)).toHaveLength(1)
    expect(contain(english.server.nameBlank)).toEqual([])
    expect(contain(texts.letterIgnore)).toEqual([])
  })
})

describe('the build of the reference page', () => {
  test('needs at most 150 kB of scripts and styles, in each language', () => {
    const reference = 'dist/pages/docs'
    const names = readdirSync(join(reference, 'assets')).filter((name) => /\.(js|css)$/.test(name))
    const sizeOf = (isPart: (name: string) => boolean) =>
      names
        .filter(isPart)
        .map((name) => gzipSync(readFileSync(join(reference, 'assets', name)), { level: 9 }).length)
        .reduce((sum, size) => sum + size, 0)
    const isOfLanguage = (name: string) => languages.some((language) => name.startsWith(`${language}-`))
    const entry = sizeOf((name) => !isOfLanguage(name))
    // A language has two files: the texts of every page, and the texts of the reference page.
    const ofLanguages = languages.map((language) => sizeOf((name) => name.startsWith(`${language}-`)))

    expect(Math.min(...ofLanguages)).toBeGreaterThan(3_000)
    expect(entry + Math.max(...ofLanguages)).toBeLessThan(150_000)
  })
})

describe('an unknown path', () => {
  const navigation = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

  test.each(['/nothing', '/tasks/nothing', '/docs/nothing', '/tasks.html'])(
    'answers a browser with a page and the status 404: %s',
    async (path) => {
      const { status, headers } = await fetch(service.origin + path, { headers: navigation })

      expect(status).toBe(404)
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
      const etag = headers.get('etag') ?? ''
      const repeated = { ...navigation, 'if-none-match': etag }
      expect((await fetch(service.origin + path, { headers: repeated })).status).toBe(404)
    },
  )

  test.each([
    ['/api/nothing', navigation],
    ['/rpc/nothing', navigation],
    ['/.well-known/nothing', navigation],
    ['/assets/nothing.js', navigation],
    ['/nothing', {}],
    ['/nothing', { accept: '*/*' }],
    ['/nothing', { accept: 'application/json' }],
  ])('answers a program with JSON: %s %j', async (path, headers) => {
    const response = await fetch(service.origin + path, { headers: headers as Record<string, string> })

    expect(response.status).toBe(404)
    expect(response.headers.get('content-type')).toContain('json')
  })

  test('is redirected without the slash at its end', async () => {
    const open = (path: string) =>
      fetch(service.origin + path, { headers: navigation, redirect: 'manual' }).then(
        ({ status, headers }) => ({
          status,
          location: headers.get('location'),
        }),
      )

    expect(await open('/tasks/?from=mail')).toEqual({ status: 308, location: '/tasks?from=mail' })
    expect(await open('/docs/')).toEqual({ status: 308, location: '/docs' })
    expect(await open('/nothing/')).toEqual({ status: 308, location: '/nothing' })
    expect((await fetch(`${service.origin}/tasks/`)).status).toBe(404)
    expect(await open('/api/tasks/')).toEqual({ status: 404, location: null })
    expect(await open('//evil.example/')).toEqual({ status: 404, location: null })
  })

  test('does not accept other methods', async () => {
    const response = await fetch(`${service.origin}/nothing`, { method: 'POST', headers: navigation })

    expect(response.status).toBe(404)
    expect(response.headers.get('content-type')).toContain('json')
  })
})
