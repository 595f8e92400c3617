import { build } from 'esbuild'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { install, tanstackPackages, versionsOf } from '../fixtures/installation.ts'
import { writeRecipe } from '../fixtures/recipe.ts'
import { startService } from '../fixtures/service.ts'

const run = promisify(execFile)
const npx = (name: string) => resolve('node_modules/.bin', name)
const service = await startService()

/** An application that contains only the client package and, for the recipe, TanStack Query and React. */
let app: string
let tarball: string
/** The names of the installed packages, before TanStack Query and React are added. */
let installed: string[]

/** Code of an application that uses the package. The compiler must accept the code. */
const use = `
import {
  type CallContext, type Client, type ClientOptions, type Inputs, type Outputs,
  contract, createClient, createRestClient, decodeErrorBody, isDefinedError, isValidationError, ORPCError, pages, safe,
} from 'tallystick-client'
import { type Contract, contract as same } from 'tallystick-client/contract'

export const options: ClientOptions = { headers: { cookie: 'a=b' } }
export const context: CallContext = { headers: { 'if-match': '"1"' } }
export const paths: string[] = [...Object.keys(contract), ...Object.keys(same satisfies Contract)]
export const clients: Client[] = [createClient('http://localhost'), createRestClient('http://localhost', options)]
export const created: Inputs['tasks']['create'] = { taskTitle: 'Write' }
export const title = (task: Outputs['tasks']['get']): string => task.title
export const decoded: ORPCError<string, unknown> | undefined = decodeErrorBody({})

const client = createClient('http://localhost')
export async function reserve(): Promise<{ name?: string; guests?: string } | string[] | string> {
  const { error, data } = await safe(client.reservations.create({ name: 'Ada', guests: 2 }))
  if (isValidationError(error))
    return error.data.issues.map((issue) => {
      issue satisfies { path: string; message: string }
      return issue.path + issue.message
    })
  if (isDefinedError(error) && error.code === 'INVALID_RESERVATION') return error.data
  if (error) throw error
  return data.message
}
export async function titles(): Promise<string[]> {
  const found: string[] = []
  for await (const { tasks } of pages(client.tasks.list, { limit: 2 })) found.push(...tasks.map(title))
  try {
    await client.tasks.get({ id: 1 })
  } catch (error) {
    if (isValidationError(error)) return error.data.issues.map(({ path }) => path)
  }
  return found
}
// @ts-expect-error An unknown procedure.
await client.tasks.burn()
// @ts-expect-error An invalid value.
await client.tasks.list({ status: 'late' })
// @ts-expect-error A missing field.
await client.notes.create({ title: 'x' })
// @ts-expect-error A field that is not in the output.
console.log((await client.counter.get()).total)
`

async function readInstalled() {
  const lock = await readFile(join(app, 'node_modules/.package-lock.json'), 'utf8')
  return Object.keys((JSON.parse(lock) as { packages: object }).packages)
}

beforeAll(async () => {
  app = await mkdtemp(join(tmpdir(), 'tallystick-client-app-'))
  const { stdout } = await run('npm', ['--prefix', resolve('.'), '--silent', 'run', 'pack:client'], {
    cwd: app,
  })
  tarball = join(app, stdout.trim().split('\n').at(-1) ?? '')
  await writeFile(join(app, 'package.json'), '{ "type": "module" }')
  await install(app, tarball)
  installed = await readInstalled()
  await install(app, ...(await tanstackPackages()), ...(await versionsOf('@types/react', '@types/react-dom')))
}, 300_000)

afterAll(() => rm(app, { recursive: true, force: true }))

describe('the client package', { timeout: 120_000 }, () => {
  test('is written to the current folder, and installs at most 16 packages, none of them a server', () => {
    expect(tarball).toMatch(/\/tallystick-client-\d+\.\d+\.\d+\.tgz$/)
    expect(installed.length).toBeLessThanOrEqual(16)
    expect(installed.filter((path) => /server$|drizzle|better-auth|react|tanstack/.test(path))).toEqual([
      'node_modules/@orpc/standard-server',
    ])
  })

  test.each([
    ['ESNext', 'Bundler'],
    ['NodeNext', 'NodeNext'],
  ])(
    'compiles in a strict application without skipLibCheck and without Node types (%s, %s)',
    async (module, moduleResolution) => {
      const files = [...(await writeRecipe(app)), 'use.ts']
      await writeFile(join(app, 'use.ts'), use)
      const config = join(app, `tsconfig.${module}.json`)
      const compilerOptions = {
        strict: true,
        noEmit: true,
        target: 'ES2023',
        lib: ['ES2023', 'DOM', 'DOM.Iterable'],
        module,
        moduleResolution,
        jsx: 'react-jsx',
        types: [],
        allowImportingTsExtensions: true,
      }
      await writeFile(config, JSON.stringify({ compilerOptions, files }))

      const { stdout } = await run(npx('tsc'), ['-p', config]).catch(
        (error: unknown) => error as { stdout: string },
      )

      expect(stdout).toBe('')
    },
  )

  test('adds less than 9 kB to an application that uses createClient', async () => {
    const { outputFiles } = await build({
      stdin: { contents: "export { createClient } from 'tallystick-client'", resolveDir: app },
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      write: false,
    })

    expect(gzipSync(outputFiles[0]?.contents ?? '').length).toBeLessThan(9_000)
  })

  test('calls a service from Node, over RPC and REST', async () => {
    await writeFile(
      join(app, 'run.mjs'),
      `import { createClient, createRestClient, isValidationError } from 'tallystick-client'
       for (const create of [createClient, createRestClient]) {
         const client = create(process.argv[2])
         const recognized = await client.reservations.create({ name: 1 }).catch(isValidationError)
         console.log((await client.status.get()).status, recognized)
       }`,
    )

    const { stdout } = await run(process.execPath, [join(app, 'run.mjs'), service.origin])

    expect(stdout).toBe('ok true\nok true\n')
  })

  test('passes publint and attw', async () => {
    await Promise.all([
      run(npx('publint'), ['--strict', tarball]),
      run(npx('attw'), [tarball, '--profile', 'esm-only']),
    ])
  })
})
