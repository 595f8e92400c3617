import { execFile } from 'node:child_process'
import { cpSync, existsSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

import { bundleOptions } from './bundle.ts'
import { buildIfChanged } from './inputs.ts'
import { entryPoints, programsPlugin } from './programs.ts'

// The working folder is the folder of the project.

/** The files that an application must have. */
const REQUIRED = ['src/app.ts', 'contract/index.ts']

/** Files and folders that the bundle depends on, if they exist. The lock file has the versions of the packages. */
const INPUTS = ['contract', 'db', 'src', 'package.json', 'package-lock.json', 'tsconfig.json']
const PAGE_INPUTS = ['app', 'contract', 'package.json', 'package-lock.json', 'tsconfig.json']

const existing = (paths: string[]) => paths.filter((path) => existsSync(path))

export const isProject = () => REQUIRED.every((file) => existsSync(file))

export function requireProject() {
  const missing = REQUIRED.find((file) => !existsSync(file))
  if (missing === undefined) return
  const folder = process.cwd()
  throw new Error(
    isBuilt()
      ? `${folder} has a built project without its sources. Run this command where the sources are. Here, start the service and run its other commands: tallystick --help`
      : `There is no ${missing} in ${folder}. Run the command in the folder of a project, or create a project: tallystick new <folder>`,
  )
}

/** Imports esbuild, which production does not need after the build. */
export const importEsbuild = () =>
  import('esbuild').catch((cause: unknown) => {
    throw new Error('The package esbuild is not installed. Run: npm install --include=dev', { cause })
  })

/** Returns whether the project has a page. */
export const hasPage = () => existsSync('app/index.html')

/** Builds the page to `dist/pages/app`, unless the page is up to date. */
const buildPage = () =>
  buildIfChanged('dist/pages/app', existing(PAGE_INPUTS), async () => {
    const program = fileURLToPath(new URL('project-build-page.js', import.meta.url))
    // In a process of its own, because Vite selects the code for production with NODE_ENV.
    await promisify(execFile)(process.execPath, [program], {
      env: { ...process.env, NODE_ENV: 'production' },
    })
  })

/** Builds the page, and bundles the project with its packages to `dist/start`, unless both are up to date. */
export async function buildProject() {
  requireProject()
  if (hasPage()) await buildPage()
  await buildIfChanged('dist/start', existing(INPUTS), async () => {
    const { build } = await importEsbuild()
    rmSync('dist/start', { recursive: true, force: true })
    await build({
      ...bundleOptions,
      entryPoints: entryPoints('main', 'cli'),
      outdir: 'dist/start',
      plugins: [programsPlugin],
    })
    copyFiles('dist/start')
  })
}

/** Copies the files that the bundle in a folder reads: the migrations, the API reference and the console. */
export function copyFiles(output: string) {
  const engine = dirname(
    createRequire(join(process.cwd(), 'package.json')).resolve('tallystick/package.json'),
  )
  // The folders in the package. In the repository of the engine, the build has written the pages already.
  const packaged = join(engine, 'dist/engine-migrations')
  const migrations = existsSync(packaged) ? packaged : join(engine, 'db/migrations')
  cpSync(migrations, join(output, 'engine-migrations'), { recursive: true })
  cpSync('db/migrations', join(output, 'migrations'), { recursive: true })
  for (const page of ['docs', 'console']) {
    const built = join(engine, 'pages', page)
    if (existsSync(built)) cpSync(built, join('dist/pages', page), { recursive: true })
  }
}

const pathOf = (name: 'main' | 'cli') => resolve('dist/start', `${name}.js`)

/** Returns whether the folder has a built project without its sources, as an image has. */
export const isBuilt = () => !isProject() && existsSync(pathOf('cli'))

/** Builds the project if it has changed, and runs a program of the bundle in this process. */
export async function runProgram(name: 'main' | 'cli') {
  if (!isBuilt()) await buildProject()
  await import(pathToFileURL(pathOf(name)).href)
}
