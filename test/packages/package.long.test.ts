import { build } from 'esbuild'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'

import { external } from '../../.config/programs.ts'
import {
  checkArchive,
  compile,
  install,
  pack,
  readManifest,
  run,
  tanstackPackages,
  versionsOf,
} from '../fixtures/installation.ts'
import { temporaryDatabase, waitUntilListening } from '../fixtures/programs.ts'
import { freePort } from '../../engine/dev/testing/postgres.ts'

let app: string
let tarball: string
/** The output of the compiler, which runs while the other tests run. */
let compilation: Promise<string>

/** Code of an application that uses the package. The compiler must accept this code. */
const use = `
import { BatchLinkPlugin, ClientRetryPlugin, type ClientRetryPluginContext } from '@orpc/client/plugins'
import { type CallContext, createClient, createRestClient, isDefinedError, safe } from 'tallystick-service/client'
import { contract } from 'tallystick-service/contract'
import { createTallystick } from 'tallystick-service/testing'

export const paths = Object.keys(contract)
export const rest = createRestClient('http://localhost:3000', { headers: { cookie: 'a=b' } })
export const client = createClient('http://localhost:3000')
export const batching = createClient('http://localhost:3000', {
  plugins: [new BatchLinkPlugin({ groups: [{ condition: () => true, context: {} }] })],
})
export const retrying = createClient<CallContext & ClientRetryPluginContext>('http://localhost:3000', {
  plugins: [new ClientRetryPlugin()],
})
export const retried = () => retrying.status.get(undefined, { context: { retry: 3, headers: {} } })
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

/** For each kind of mistake, a line of code that the compiler must reject. */
const mistakes = {
  'an unknown procedure': 'await client.tasks.burn()',
  'an invalid status': "await client.tasks.list({ status: 'late' })",
  'a missing field': "await client.notes.create({ title: 'x' })",
  'an option of a plugin that the client does not have':
    'await client.status.get(undefined, { context: { retry: 3 } })',
  'a field that is not in the output': 'console.log((await client.counter.get()).total)',
}

const fileOf = (name: string) => `${name.replaceAll(' ', '-')}.ts`

/**
 * Creates an application that installs the packed package next to packages with which the package shares dependencies.
 * One run of the compiler checks one file without mistakes and, for each mistake, a separate file.
 */
beforeAll(async () => {
  app = await mkdtemp(join(tmpdir(), 'tallystick-app-'))
  tarball = await pack(app)
  await writeFile(join(app, 'package.json'), '{ "type": "module" }')
  const neighbours = [...(await tanstackPackages()), ...(await versionsOf('better-auth', '@types/node'))]
  await install(app, tarball, ...neighbours)
  await writeFile(join(app, 'use.ts'), use)
  for (const [name, line] of Object.entries(mistakes))
    await writeFile(join(app, fileOf(name)), `${use}\n${line}`)
  await writeFile(
    join(app, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        // Only the declarations of TypeScript itself. The compiler checks the declarations of the packages.
        skipDefaultLibCheck: true,
        noEmit: true,
        target: 'ES2023',
        module: 'NodeNext',
        types: ['node'],
      },
    }),
  )
  compilation = compile(app)
}, 300_000)

afterAll(() => rm(app, { recursive: true, force: true }))

describe.concurrent('the packed package', { timeout: 600_000 }, () => {
  test('provides the client, the contract and the test harness with types for strict applications', async () => {
    expect(await compilation).toMatch(/error TS/)
    expect(await compilation).not.toContain('use.ts')
  })

  test.each(Object.keys(mistakes))('makes %s a compiler error', async (name) => {
    const output = await compilation

    expect(output.split('\n').filter((line) => line.includes(fileOf(name)))).toEqual([
      expect.stringMatching(/error TS/),
    ])
  })

  test('runs in process, returns errors that the client recognizes, and closes', async () => {
    await writeFile(
      join(app, 'run.mjs'),
      `import { isDefinedError } from 'tallystick-service/client'
       import { createTallystick } from 'tallystick-service/testing'
       const tallystick = await createTallystick()
       const ada = await tallystick.person('ada@example.com')
       await ada.tasks.create({ taskTitle: 'Try it' })
       const recognized = await tallystick.stranger.tasks.list().catch(isDefinedError)
       console.log(JSON.stringify([await ada.tasks.list(), (await ada.account.get()).email, recognized]))
       await tallystick.close()`,
    )

    const { stdout } = await run(process.execPath, [join(app, 'run.mjs')])

    expect(JSON.parse(stdout)).toMatchObject([
      { taskCount: 1, tasks: [{ title: 'Try it' }] },
      'ada@example.com',
      true,
    ])
  })

  test('has no fields of its development in package.json', async () => {
    const manifest = await readManifest(app, 'tallystick-service')

    expect(manifest).toMatchObject({ name: 'tallystick-service', dependencies: {}, bin: {} })
    for (const field of ['scripts', 'devDependencies', 'workspaces', 'allowScripts', 'overrides'])
      expect(manifest).not.toHaveProperty(field)
  })

  test('adds no server code to an application that imports the client', async () => {
    const { metafile } = await build({
      entryPoints: [join(app, 'node_modules/tallystick-service/dist/contract/client.js')],
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

  test('passes publint and attw', async () => {
    await checkArchive(tarball)
  })
})

describe('the command of the packed package', { timeout: 600_000 }, () => {
  test('starts the service, with the PostgreSQL driver', async () => {
    const bin = join(app, 'node_modules/tallystick-service/dist/start/cli.js')
    const child = spawn(process.execPath, [bin, 'serve'], {
      cwd: app,
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: await temporaryDatabase('template1'),
        PORT: String(await freePort()),
      },
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const { output, exit } = await waitUntilListening(child)
    const { status } = await fetch(`${/as (\S+)/.exec(output())?.[1] ?? ''}/api/status`)

    child.kill('SIGTERM')

    expect(status).toBe(200)
    expect(await exit).toEqual([0, null])
  })

  test('doctor reports the packages that are missing', async () => {
    const folders = external.map((name) => {
      const paths = ['node_modules', 'node_modules/tallystick-service/node_modules'].map((path) =>
        join(app, path, name),
      )
      return paths.find((path) => existsSync(path)) ?? ''
    })
    await Promise.all(folders.map((folder) => rename(folder, `${folder}.removed`)))

    const result = await run(join(app, 'node_modules/.bin/tallystick'), ['doctor'], {
      cwd: app,
      env: { PATH: process.env.PATH },
    }).catch((error: unknown) => error)

    for (const name of external)
      expect(result).toMatchObject({
        code: 1,
        stdout: expect.stringMatching(
          new RegExp(`^problem +packages +${name} cannot be loaded: install`, 'm'),
        ),
      })
  })
})
