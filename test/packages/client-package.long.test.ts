import { build, transform } from 'esbuild'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import {
  checkArchive,
  compile,
  install,
  readManifest,
  run,
  tanstackPackages,
  versionsOf,
} from '../fixtures/installation.ts'
import { startCommand, temporaryDatabase } from '../fixtures/programs.ts'
import { writeRecipe } from '../fixtures/recipe.ts'
import { freePort } from '../../engine/dev/testing/postgres.ts'

/** An application that contains only the client package and, for the recipe, TanStack Query and React. */
let app: string
let tarball: string
/** The folders of the packages that npm selects for an application with only the client package. */
let installed: string[]
/** The names of the files that the compiler must accept. */
let files: string[]

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

/** Code of a library that exports a client without naming its type. */
const library = `
import { createClient, createRestClient } from 'tallystick-client'
export const client = createClient('http://localhost')
export const rest = createRestClient('http://localhost')
export const connect = (origin: string) => createClient(origin)
`

async function readLock() {
  const lock = await readFile(join(app, 'package-lock.json'), 'utf8')
  const { packages } = JSON.parse(lock) as { packages: object }
  // The empty name is the application.
  return Object.keys(packages).filter((folder) => folder !== '')
}

beforeAll(async () => {
  app = await mkdtemp(join(tmpdir(), 'tallystick-client-app-'))
  const { stdout } = await run('npm', ['--prefix', resolve('.'), '--silent', 'run', 'pack:client'], {
    cwd: app,
  })
  tarball = join(app, stdout.trim().split('\n').at(-1) ?? '')
  await writeFile(join(app, 'package.json'), '{ "type": "module" }')
  await install(app, '--package-lock-only', tarball)
  installed = await readLock()
  await install(app, ...(await tanstackPackages()), ...(await versionsOf('@types/react', '@types/react-dom')))
  files = [...(await writeRecipe(app)), 'use.ts']
  await writeFile(join(app, 'use.ts'), use)
  await writeFile(join(app, 'library.ts'), library)
}, 300_000)

afterAll(() => rm(app, { recursive: true, force: true }))

describe('the client package', { timeout: 600_000 }, () => {
  test('is written to the current folder, and installs at most 16 packages, none of them a server', () => {
    expect(tarball).toMatch(/\/tallystick-client-\d+\.\d+\.\d+\.tgz$/)
    expect(installed.length).toBeLessThanOrEqual(16)
    expect(installed.filter((path) => /server$|drizzle|better-auth|react|tanstack/.test(path))).toEqual([
      'node_modules/@orpc/standard-server',
    ])
    expect(installed).toContain('node_modules/tallystick-client')
  })

  test('has no fields of its development in package.json', async () => {
    const manifest = await readManifest(app, 'tallystick-client')

    expect(manifest).toMatchObject({ name: 'tallystick-client', dependencies: {} })
    expect(manifest).not.toHaveProperty('scripts')
    expect(manifest).not.toHaveProperty('devDependencies')
  })

  // These tests run at the same time.
  test.concurrent.each([
    ['ESNext', 'Bundler'],
    ['NodeNext', 'NodeNext'],
  ])(
    'compiles in a strict application without skipLibCheck and without Node types (%s, %s)',
    async (module, moduleResolution) => {
      const config = join(app, `tsconfig.${module}.json`)
      const compilerOptions = {
        strict: true,
        // Only the declarations of TypeScript itself. The compiler checks the declarations of the packages.
        skipDefaultLibCheck: true,
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

      expect(await compile(config)).toBe('')
    },
  )

  test.concurrent.each([
    ['5.6.3', 'nodenext', 'nodenext'],
    ['5.6.3', 'esnext', 'bundler'],
    ['7.0.2', 'nodenext', 'nodenext'],
    ['7.0.2', 'esnext', 'bundler'],
  ])(
    'is exported by a library with declarations (TypeScript %s, %s, %s)',
    async (version, module, moduleResolution) => {
      const name = `library-${version}-${module}`
      const config = join(app, `${name}.json`)
      const compilerOptions = {
        strict: true,
        declaration: true,
        emitDeclarationOnly: true,
        outDir: name,
        // Declarations of oRPC need a newer compiler than 5.6.
        skipLibCheck: true,
        target: 'ES2022',
        module,
        moduleResolution,
        types: [],
      }
      await writeFile(config, JSON.stringify({ compilerOptions, files: ['library.ts'] }))

      const command = ['--yes', `--package=typescript@${version}`, '--', 'tsc', '--project', config]
      await run('npx', command, { cwd: app })

      expect(await readFile(join(app, name, 'library.d.ts'), 'utf8')).toContain(
        'client: import("tallystick-client").Client<',
      )
    },
  )

  test.concurrent('passes publint and attw', async () => {
    await checkArchive(tarball)
  })

  test.each([
    ['createClient', 9_300],
    // Contains the schemas of the contract.
    ['createRestClient', 47_200],
  ])('adds to an application that uses %s less than %i bytes', async (name, limit) => {
    const { outputFiles } = await build({
      stdin: { contents: `export { ${name} } from 'tallystick-client'`, resolveDir: app },
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      write: false,
    })

    expect(gzipSync(outputFiles[0]?.contents ?? '').length).toBeLessThan(limit)
  })

  test('adds as little with Rollup', async () => {
    await install(app, 'rollup@4.68.8', '@rollup/plugin-node-resolve@16.0.3')
    await writeFile(join(app, 'entry.js'), "export { createRestClient } from 'tallystick-client'")
    const options = ['--plugin', 'node-resolve={browser:true}', '--format', 'es', '--file', 'rolled.js']

    await run('npx', ['--no-install', 'rollup', 'entry.js', ...options], { cwd: app })

    const { code } = await transform(await readFile(join(app, 'rolled.js'), 'utf8'), { minify: true })
    expect(gzipSync(code).length).toBeLessThan(46_500)
  })

  test('calls a service from Node, over RPC and REST', async () => {
    const PORT = String(await freePort())
    await startCommand({ DATABASE_URL: await temporaryDatabase(), PORT }, 'serve')
    await writeFile(
      join(app, 'run.mjs'),
      `import { createClient, createRestClient, isValidationError } from 'tallystick-client'
       for (const create of [createClient, createRestClient]) {
         const client = create(process.argv[2])
         const recognized = await client.reservations.create({ name: 1 }).catch(isValidationError)
         console.log((await client.status.get()).status, recognized)
       }`,
    )

    const { stdout } = await run(process.execPath, [join(app, 'run.mjs'), `http://127.0.0.1:${PORT}`])

    expect(stdout).toBe('ok true\nok true\n')
  })
})
