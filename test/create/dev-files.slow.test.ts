import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'

import { freePort } from '../../engine/dev/testing/postgres.ts'
import { waitUntilListening } from '../fixtures/programs.ts'

const SECRET = 'A line that only the owner of the machine may read'

async function write(path: string, content: string) {
  await mkdir(join(path, '..'), { recursive: true })
  await writeFile(path, content)
}

/**
 * Creates a project in a workspace as pnpm writes it: each package is a link, one to `node_modules/.pnpm`, one to another
 * folder of the workspace.
 */
async function createProject() {
  const workspace = await realpath(await mkdtemp(join(tmpdir(), 'tallystick [dev] files-')))
  onTestFinished(() => rm(workspace, { recursive: true }))
  const project = join(workspace, 'project')
  await cp('engine/dev/create/template', project, { recursive: true })
  const modules = join(project, 'node_modules')
  const packages = (await readdir('node_modules')).filter((name) => !name.startsWith('.'))
  await mkdir(modules)
  await Promise.all(packages.map((name) => symlink(resolve('node_modules', name), join(modules, name))))
  const stored = join(modules, '.pnpm/stored@1.0.0/node_modules/stored')
  await write(join(stored, 'package.json'), '{ "name": "stored", "type": "module", "exports": "./index.js" }')
  await write(join(stored, 'index.js'), 'export const stored = 1')
  await symlink(stored, join(modules, 'stored'))
  const linked = join(workspace, 'linked')
  await write(join(linked, 'package.json'), '{ "name": "linked", "type": "module", "exports": "./index.js" }')
  await write(join(linked, 'index.js'), "import icon from './icon.png'; export const linked = icon")
  await write(join(linked, 'icon.png'), 'an image')
  await write(join(linked, '.hidden'), SECRET)
  await symlink(linked, join(modules, 'linked'))
  const main = join(project, 'app/main.tsx')
  const extra =
    "import { stored } from 'stored'; import { linked } from 'linked'; console.log(stored, linked)\n"
  await writeFile(main, extra + (await readFile(main, 'utf8')))
  const manifest = join(project, 'package.json')
  const { dependencies, ...rest } = JSON.parse(await readFile(manifest, 'utf8')) as { dependencies: object }
  const added = { ...dependencies, stored: '1.0.0', linked: '1.0.0' }
  await writeFile(manifest, JSON.stringify({ ...rest, dependencies: added }))
  for (const path of ['.env', 'app/.env.local', 'app/.hidden/notes.txt', 'secret.txt', 'db/secret.ts'])
    await write(join(project, path), SECRET)
  return project
}

/** Runs `tallystick dev` in a project until the end of the test. Returns the port. */
async function startDevelopment(project: string, environment: Record<string, string>) {
  const port = await freePort()
  const child = spawn(
    process.execPath,
    ['--import', resolve('node_modules/tsx/dist/loader.mjs'), resolve('engine/command.ts'), 'dev'],
    {
      cwd: project,
      env: { PATH: process.env.PATH, PORT: String(port), ...environment },
    },
  )
  onTestFinished(async () => {
    if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit')
  })
  const { output } = await waitUntilListening(child)
  expect(output()).toContain('listens on')
  return port
}

/** Sends a target without changes: fetch() would resolve dot segments. */
async function get(port: number, target: string, headers: Record<string, string> = {}) {
  const socket = connect(port, 'localhost')
  const lines = Object.entries({ host: `localhost:${port}`, connection: 'close', ...headers })
  socket.write(
    `GET ${target} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
  )
  const answer = await text(socket)
  return { status: Number(answer.split(' ', 2)[1]), answer }
}

const encode = (path: string) =>
  path.replace(/[^/]/g, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`)

const queries = [
  '',
  '?raw',
  '?raw??',
  '?raw&import',
  '?import&raw',
  '?import&raw??',
  '?import',
  '?url',
  '?import&url',
  '?inline',
  '?import&inline',
  '?import&url&inline',
  '?import&?inline=1.wasm?init',
  '?import&?meteorkitten=1.wasm?init',
  '?.svg?import',
  '?.svg?.wasm?init',
  '?import&raw=.css',
  '?direct&raw',
  '?html-proxy&index=0.js',
  '?worker',
  '?worker_file&type=module',
  '?t=1&import&raw',
  '#/../x?raw',
]

/** The spellings of a file, without a query. */
function spellingsOf(project: string, file: string) {
  const inProject = relative(project, file)
  const inRoot = relative(join(project, 'app'), file)
  const paths = [
    `/@fs${file}`,
    `/@fs/${file}`,
    `//@fs${file}`,
    `/@fs${project}/app/../${inProject}`,
    `/@fs${project}/app/%2e%2e/${inProject}`,
    `/@fs${project}/app/..%2f${inProject}`,
    `/@fs${project}/app/..%5c${inProject}`,
    `/@fs${project}//${inProject}`,
    `/@fs${project}/app/#/../../${inProject}`,
    `/@fs${project.toUpperCase()}/${inProject}`,
    `/@id/${file}`,
    `/@id/__x00__${file}`,
    `/@id${file}`,
    file,
    `/${file}`,
    `/${inProject}`,
    `/./${inProject}`,
    `/${inRoot}`,
    `/app/../${inProject}`,
    `/node_modules/../${inProject}`,
    `/node_modules/%2e%2e/${inProject}`,
    `/@vite/../${inProject}`,
    `/public/${inRoot}`,
    `/node_modules/.vite/deps/../../../${inProject}`,
    `/node_modules/.vite/deps/../../../${inProject}.map`,
  ].map((path) => path.replaceAll(' ', '%20').replaceAll('[', '%5B').replaceAll(']', '%5D'))
  return [
    ...paths,
    `/@fs${encode(file)}`,
    encode(`/${inRoot}`),
    `${paths[0]}/`,
    `${paths[0]}%00`,
    `${paths[0]}.map`,
  ]
}

const kinds: Record<string, string>[] = [
  {},
  { accept: 'text/html' },
  { 'sec-fetch-dest': 'script' },
  { accept: 'text/css,*/*' },
]

/** Returns the requests of which the answers contain a text. */
async function findLeaks(port: number, project: string, file: string, content: string, isBrief: boolean) {
  const start = content.slice(0, 30)
  const encoded = Buffer.from(start).toString('base64').slice(0, 30)
  const leaks: string[] = []
  for (const path of spellingsOf(project, file))
    for (const query of isBrief ? queries.slice(0, 5) : queries)
      for (const headers of isBrief ? kinds.slice(0, 1) : kinds) {
        const { answer } = await get(port, path + query, headers)
        if (answer.includes(start) || answer.includes(encoded)) leaks.push(path + query)
      }
  return leaks
}

const IMPORTS = /(?:\bfrom|\bimport)\s*\(?\s*"(\/[^"]+)"/g

/** Loads a module with everything that the module imports. Returns the statuses by path. */
async function loadModules(port: number, path: string, known = new Map<string, number>()) {
  if (known.has(path)) return known
  known.set(path, 0)
  const response = await fetch(`http://localhost:${port}${path}`)
  known.set(path, response.status)
  const isModule = response.headers.get('content-type')?.includes('javascript')
  const source = isModule ? await response.text() : ''
  for (const [, next = ''] of source.matchAll(IMPORTS)) await loadModules(port, next, known)
  for (const [, asset] of source.matchAll(/export default "(\/[^"]+\.png)"/g))
    known.set(`${asset}`, (await fetch(`http://localhost:${port}${asset}`)).status)
  return known
}

describe('tallystick dev with a page', { timeout: 300_000 }, () => {
  test('starts no editor', async () => {
    const project = await createProject()

    const port = await startDevelopment(project, {})

    const file = encodeURIComponent(join(project, 'src/app.ts'))
    for (const path of ['/__open-in-editor', '//__open-in-editor', '/@vite/../__open-in-editor'])
      expect((await get(port, `${path}?file=${file}`)).answer).toMatch(
        /^HTTP\/1\.1 (404 .*|200 .*<!doctype html>.*)$/is,
      )
  })

  test.each([
    ['the default DATA_DIR', '.data', '.data'],
    ['a DATA_DIR behind a link, inside of the page', 'link', 'app/public/data'],
  ])('serves the page, and no private file of %s', async (_, dataDir, folder) => {
    const project = await createProject()
    const data = join(project, folder)
    await mkdir(data, { recursive: true })
    await symlink(data, join(project, 'link'))
    await symlink(data, join(project, 'app/shortcut'))
    await write(join(data, 'outbox/1.eml'), SECRET)
    await write(join(data, 'outbox/1.html'), SECRET)

    const port = await startDevelopment(project, { DATA_DIR: dataDir })

    const page = await fetch(`http://localhost:${port}/`)
    const [, main = ''] = /src="(\/main[^"]*)"/.exec(await page.text()) ?? []
    const modules = await loadModules(port, main)
    expect([...modules].filter(([, status]) => status !== 200)).toEqual([])
    const loaded = [...modules.keys()].join('\n')
    expect(loaded).toMatch(/linked\/icon\.png$/m)
    expect(loaded).toContain('stored')
    const secret = await readFile(join(data, 'auth-secret'), 'utf8')
    const version = await readFile(join(data, 'db/PG_VERSION'), 'utf8')
    expect(version).not.toBe('')
    const files: [path: string, content: string][] = [
      [join(data, 'auth-secret'), secret],
      [join(project, 'link/auth-secret'), secret],
      [join(project, 'app/shortcut/auth-secret'), secret],
      [join(data, 'outbox/1.eml'), SECRET],
      [join(data, 'outbox/1.html'), SECRET],
      [join(project, '.env'), SECRET],
      [join(project, 'app/.env.local'), SECRET],
      [join(project, 'app/.hidden/notes.txt'), SECRET],
      [join(project, 'secret.txt'), SECRET],
      [join(project, 'db/secret.ts'), SECRET],
      [join(project, '../linked/.hidden'), SECRET],
    ]
    for (const [index, [path, content]] of files.entries())
      expect(await findLeaks(port, project, path, content, index > 0)).toEqual([])
    for (const path of [`/@fs${data}/db/PG_VERSION`, `/@fs${data}/db/global/pg_control`].map(encodeURI))
      expect((await get(port, path)).status, path).toBeOneOf([403, 404])
  })
})
