import { spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'

import { createFetch } from '../../engine/test/fixtures/http.ts'
import { freePort } from '../../engine/dev/testing/postgres.ts'
import { install, run } from '../fixtures/installation.ts'
import { runCommand, waitUntilListening } from '../fixtures/programs.ts'

/** Uses a package with native code, a package that reads its own files, a package of the workspace, and a file beside. */
const CODE = `
import { hash } from '@node-rs/argon2'
import { shout } from 'loud'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import PDFDocument from 'pdfkit'

const require = createRequire(import.meta.url)
export const words = [
  (await hash('a secret')).slice(0, 9),
  new PDFDocument().font('Helvetica').fontSize(20).widthOfString('width') > 0 ? 'fonts' : '',
  shout('workspace'),
  readFileSync(new URL('./texts/word.txt', import.meta.url), 'utf8'),
  readFileSync(join(import.meta.dirname, 'texts/word.txt'), 'utf8'),
  String(typeof require),
].join(' ')
`
const WORDS = '$argon2id fonts WORKSPACE beside beside function'

const COMMAND = join('node_modules', 'tallystick', 'dist', 'command.js')

let folder: string
let project: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tallystick-packages-'))
  project = join(folder, 'lendery')
  expect(await runCommand({}, 'new', project, '--bare')).toMatchObject({ stderr: '' })
  const file = join(project, 'package.json')
  const manifest = JSON.parse(await readFile(file, 'utf8')) as object
  await writeFile(file, JSON.stringify({ ...manifest, workspaces: ['packages/*'] }))
  await mkdir(join(project, 'packages/loud'), { recursive: true })
  await writeFile(
    join(project, 'packages/loud/package.json'),
    JSON.stringify({ name: 'loud', version: '1.0.0', type: 'module', exports: './index.ts' }),
  )
  await writeFile(
    join(project, 'packages/loud/index.ts'),
    'export const shout = (word: string): string => word.toUpperCase()\n',
  )
  await mkdir(join(project, 'src/texts'))
  await writeFile(join(project, 'src/texts/word.txt'), 'beside')
  await writeFile(join(project, 'src/words.ts'), CODE)
  const app = join(project, 'src/app.ts')
  const code = await readFile(app, 'utf8')
  await writeFile(
    app,
    `import { words } from './words.ts'\n${code.replace(/description: .*,/, 'description: words,')}`,
  )
  await install(project, '@node-rs/argon2@2.2.1', 'pdfkit@0.20.2')
}, 600_000)

afterAll(() => rm(folder, { recursive: true, force: true }))

/** Starts a program in a folder. Returns a function that reads the description of the application. */
async function start(cwd: string, ...words: string[]) {
  const PORT = String(await freePort())
  const DATA_DIR = await mkdtemp(join(folder, 'data-'))
  const child = spawn(process.execPath, words, { cwd, env: { PATH: process.env.PATH, PORT, DATA_DIR } })
  onTestFinished(() => void child.kill('SIGKILL'))
  await waitUntilListening(child)
  const call = createFetch({ origin: `http://localhost:${PORT}` })
  return async () => {
    const { body } = await call('GET', '/api/openapi.json')
    return (body as { info: { description: string } }).info.description.split(' To sign in', 1)[0]
  }
}

describe('packages of a project', { timeout: 300_000 }, () => {
  test('can have native code, files beside their code, and sources in the workspace', async () => {
    const read = await start(project, COMMAND, 'start')

    expect(await read()).toBe(WORDS)
  })

  test('are the same during development', async () => {
    const read = await start(project, COMMAND, 'dev')

    expect(await read()).toBe(WORDS)
  })

  test('are built again after a change of a package in the workspace', async () => {
    const file = join(project, 'packages/loud/index.ts')
    const code = await readFile(file, 'utf8')
    onTestFinished(() => writeFile(file, code))
    await writeFile(file, code.replace('toUpperCase', 'toLowerCase'))

    const read = await start(project, COMMAND, 'start')

    expect(await read()).toBe(WORDS.replace('WORKSPACE', 'workspace'))
  })

  test('are few in production, where the build starts without sources', async () => {
    await run(process.execPath, [join(project, COMMAND), 'build'], { cwd: project })
    const production = join(folder, 'production')
    await mkdir(production)
    for (const name of ['dist', 'package.json', 'package-lock.json', 'packages', 'vendor'])
      await cp(join(project, name), join(production, name), { recursive: true })
    await run('npm', ['ci', '--omit=dev', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: production })

    const read = await start(production, COMMAND, 'start')
    const started = await read()
    const modules = join(production, 'node_modules')
    const files = await readdir(modules, { recursive: true, withFileTypes: true })
    const sizes = await Promise.all(
      files
        .filter((file) => file.isFile())
        .map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
    )
    const names = await readdir(modules)

    expect(started).toBe(WORDS)
    for (const name of ['esbuild', 'react', 'tallystick-dev', 'typescript', 'vite', 'vitest'])
      expect(names).not.toContain(name)
    expect(sizes.reduce((sum, size) => sum + size) / 1_000_000).toBeLessThan(125)
  })
})
