import { build } from 'esbuild'
import { execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'

import { listening } from './child.ts'
import { databaseUrl, freePort } from './postgres.ts'

const run = promisify(execFile)
const npx = (name: string) => resolve('node_modules/.bin', name)

let app: string
let tarball: string

/** An empty app with the packed package in it, and of other packages only what the package itself depends on. */
beforeAll(async () => {
  app = await mkdtemp(join(tmpdir(), 'tallystick-app-'))
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', app])
  tarball = join(app, stdout.trim().split('\n').at(-1) ?? '')
  const modules = join(app, 'node_modules')
  await mkdir(join(modules, 'tallystick'), { recursive: true })
  await run('tar', ['-xzf', tarball, '-C', join(modules, 'tallystick'), '--strip-components=1'])
  const { dependencies } = JSON.parse(await readFile('package.json', 'utf8')) as { dependencies: object }
  for (const name of [...Object.keys(dependencies), '@types/node']) {
    await mkdir(join(modules, name, '..'), { recursive: true })
    await symlink(resolve('node_modules', name), join(modules, name))
  }
  await writeFile(join(app, 'package.json'), '{ "type": "module" }')
  await writeFile(
    join(app, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        noEmit: true,
        target: 'ES2023',
        module: 'NodeNext',
        skipLibCheck: true,
        types: ['node'],
      },
    }),
  )
}, 300_000)

afterAll(() => rm(app, { recursive: true, force: true }))

const compile = async (source: string) => {
  await writeFile(join(app, 'app.ts'), source)
  const failed = (error: { stdout: string }) => error.stdout
  return run(npx('tsc'), ['-p', app]).then(() => '', failed)
}

const use = `
import { createClient, createRestClient, isDefinedError, safe } from 'tallystick/client'
import { contract } from 'tallystick/contract'
import { createTallystick } from 'tallystick/testing'

export const paths = Object.keys(contract)
export const rest = createRestClient('http://localhost:3000', { headers: { cookie: 'a=b' } })
export const client = createClient('http://localhost:3000')
export async function reserve() {
  const { error, data } = await safe(client.reservations.create({ name: 'Ada', guests: 2 }))
  if (isDefinedError(error) && error.code === 'INVALID_RESERVATION') {
    const broken: { name?: string; guests?: string } = error.data
    return broken
  }
  const message: string | undefined = data?.message
  return message
}
export async function harness() {
  const tallystick = await createTallystick()
  const ada = await tallystick.person()
  const { taskCount } = await ada.tasks.list({ status: 'pending' })
  await tallystick.close()
  return taskCount satisfies number
}
`

describe('the packed package', { timeout: 120_000 }, () => {
  test('gives a strict app the client, the contract and the harness, with types', async () => {
    expect(await compile(use)).toBe('')
  })

  test.each([
    ['an unknown procedure', 'await client.tasks.burn()'],
    ['a wrong status', "await client.tasks.list({ status: 'late' })"],
    ['a missing field', "await client.notes.create({ title: 'x' })"],
    ['a field that no answer has', 'console.log((await client.counter.get()).total)'],
  ])('makes %s a mistake of the compiler', async (_, line) => {
    expect(await compile(`${use}\n${line}`)).toMatch(/app\.ts.*error TS/)
  })

  test('runs in process, refuses with errors that the client knows, and closes', async () => {
    await writeFile(
      join(app, 'run.mjs'),
      `import { isDefinedError } from 'tallystick/client'
       import { createTallystick } from 'tallystick/testing'
       const tallystick = await createTallystick()
       const ada = await tallystick.person('ada@example.com')
       await ada.tasks.create({ taskTitle: 'Try it' })
       const known = await tallystick.stranger.tasks.list().catch(isDefinedError)
       console.log(JSON.stringify([await ada.tasks.list(), (await ada.account.get()).email, known]))
       await tallystick.close()`,
    )

    const { stdout } = await run(process.execPath, [join(app, 'run.mjs')])

    expect(JSON.parse(stdout)).toMatchObject([
      { taskCount: 1, tasks: [{ title: 'Try it' }] },
      'ada@example.com',
      true,
    ])
  })

  test('brings a command that serves, with the PostgreSQL driver in it', async () => {
    const { url } = inject('postgres')
    const name = `tallystick_package_${process.pid}`
    const admin = postgres(url, { max: 1, onnotice: () => undefined })
    await admin`create database ${admin(name)}`
    const bin = join(app, 'node_modules/tallystick/dist/start/cli.js')
    const child = spawn(process.execPath, [bin, 'serve'], {
      cwd: app,
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: databaseUrl(url, name),
        PORT: String(await freePort()),
      },
    })
    onTestFinished(async () => {
      child.kill('SIGKILL')
      await admin`drop database ${admin(name)} with (force)`
      await admin.end()
    })
    const { output, ended } = await listening(child)
    const { status } = await fetch(`${/as (\S+)/.exec(output())?.[1] ?? ''}/api/status`)

    child.kill('SIGTERM')

    expect(status).toBe(200)
    expect(await ended).toEqual([0, null])
  })

  test('pulls no server code into an app that imports the client', async () => {
    const { metafile } = await build({
      entryPoints: [join(app, 'node_modules/tallystick/dist/contract/client.js')],
      bundle: true,
      format: 'esm',
      platform: 'browser',
      write: false,
      metafile: true,
    })
    const inputs = Object.keys(metafile.inputs)

    expect(inputs.filter((path) => /dist\/(src|db)\/|drizzle|better-auth|@orpc\/server/.test(path))).toEqual(
      [],
    )
  })

  test('is clean to publint and to attw', async () => {
    await expect(run(npx('publint'), ['--strict', tarball])).resolves.toBeDefined()
    await expect(run(npx('attw'), [tarball, '--profile', 'esm-only'])).resolves.toBeDefined()
  })
})
