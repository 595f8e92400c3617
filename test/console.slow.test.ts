import { spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

import { build } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'

import { bundleOptions } from '../.config/programs.ts'
import { freePort } from '../engine/dev/testing/postgres.ts'
import { pathOf, waitUntilListening } from './fixtures/programs.ts'

/** Starts the service as a process with an embedded database. Returns its origin, and the address of its console. */
async function start(settings: Record<string, string>) {
  const folder = await mkdtemp(join(tmpdir(), 'tallystick-'))
  const port = String(await freePort())
  const child = spawn(process.execPath, [pathOf('main')], {
    env: { PATH: process.env.PATH, DATA_DIR: folder, PORT: port, ...settings },
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  const { output, exit } = await waitUntilListening(child)
  const stop = async () => {
    child.kill('SIGTERM')
    return exit
  }
  return {
    origin: `http://127.0.0.1:${port}`,
    stop,
    findAddress: () => /Console +(http\S+)/.exec(output())?.[1],
  }
}

/** Returns what the page can know and do in development. */
async function describeDevelopment(origin: string) {
  const { status, headers } = await fetch(`${origin}/api/development/console`, { redirect: 'manual' })
  return {
    isMarked: (await (await fetch(origin)).text()).includes('<html data-development'),
    console: [status, headers.get('location')],
    samples: (await fetch(`${origin}/api/development/samples`, { method: 'POST' })).status,
  }
}

test('`start` serves the console, and stops with the service', async () => {
  const { origin, findAddress, stop } = await start({})
  await expect.poll(findAddress).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?key=/)
  const address = findAddress() ?? ''

  const { status, headers } = await fetch(address, { redirect: 'manual' })
  const cookie = headers.get('set-cookie')?.split(';', 1)[0] ?? ''
  const page = await fetch(new URL(headers.get('location') ?? '', address), { headers: { cookie } })

  expect([status, page.status]).toEqual([303, 200])
  expect(await page.text()).toContain('<title>Console')
  expect((await fetch(`${origin}/dev`)).status).toBe(404)
  expect(await describeDevelopment(origin)).toEqual({
    isMarked: true,
    console: [303, new URL(address).origin],
    samples: 401,
  })
  expect(await stop()).toEqual([0, null])
})

test.each([
  ['HOST', '127.0.0.1'],
  ['NODE_ENV', 'development'],
])('`start` has no console with %s=%s', async (name, value) => {
  const { origin, findAddress, stop } = await start({ [name]: value })

  const development = await describeDevelopment(origin)
  await stop()

  expect(findAddress()).toBeUndefined()
  expect(development).toEqual({ isMarked: false, console: [404, null], samples: 404 })
})

const production = {
  NODE_ENV: 'production',
  BASE_URL: 'https://example.com',
  AUTH_SECRET: 's'.repeat(32),
  SMTP_URL: 'smtp://127.0.0.1:9',
  MAIL_FROM: 'no-reply@example.com',
  DATABASE_URL: 'memory:',
}

test('in production, the page cannot add sample data, and links to no console', async () => {
  const { origin } = await start(production)

  expect(await describeDevelopment(origin)).toEqual({ isMarked: false, console: [404, null], samples: 404 })
})

test('in production, the reference page is served, without the console', async () => {
  const { origin, findAddress } = await start(production)

  const page = await fetch(`${origin}/docs`)
  const document = await fetch(`${origin}/docs/reference.json`)

  expect([page.status, document.status]).toEqual([200, 200])
  expect(await document.json()).toMatchObject({ info: { contact: { url: 'https://example.com' } } })
  expect(findAddress()).toBeUndefined()
})

test('the service imports the console only on demand', async () => {
  const { metafile } = await build({
    ...bundleOptions,
    entryPoints: { main: 'src/main.ts' },
    outdir: 'dist/none',
    write: false,
    metafile: true,
  })
  const { outputs } = metafile
  const loaded = new Set<string>()
  const load = (file: string) => {
    if (loaded.has(file)) return
    loaded.add(file)
    for (const { path, kind } of outputs[file]?.imports ?? []) if (kind === 'import-statement') load(path)
  }
  const entry = Object.keys(outputs).find((file) => outputs[file]?.entryPoint === 'src/main.ts') ?? ''
  load(entry)
  // src/main.ts imports the service on demand, after the flags of V8.
  for (const { path, kind } of outputs[entry]?.imports ?? [])
    if (kind === 'dynamic-import' && !inputsOf(path).some(isConsole)) load(path)

  function inputsOf(file: string) {
    return Object.keys(outputs[file]?.inputs ?? {})
  }

  expect(Object.keys(outputs).flatMap(inputsOf).filter(isConsole)).not.toEqual([])
  expect([...loaded].flatMap(inputsOf)).toContain('engine/http/server/app.ts')
  expect([...loaded].flatMap(inputsOf).filter(isConsole)).toEqual([])
})

test('the page has less than 150 kB, without what it loads on demand', async () => {
  const folder = 'dist/pages/console/assets'
  const files = (await readdir(folder)).filter((file) => /^main-.*\.(js|css)$/.test(file))
  const sizes = await Promise.all(
    files.map(async (file) => gzipSync(await readFile(join(folder, file))).length),
  )

  expect(sizes).toHaveLength(2)
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(150_000)
})

const isConsole = (input: string) => input.startsWith('engine/console/') || input.includes('postal-mime')
