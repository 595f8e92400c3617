import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { build } from 'esbuild'

import { lockFiles } from '../create/package-manager.ts'
import { bundleOptions } from './bundle.ts'
import { filesIn } from '../create/folder.ts'
import { buildIfChanged } from './inputs.ts'
import { entryPoints, programsPlugin } from './programs.ts'

// The working folder is the folder of the project.

/** The files that an application must have. */
const REQUIRED = ['src/app.ts', 'contract/index.ts']

const OUTPUT = 'dist/start'

export function requireProject() {
  const missing = REQUIRED.find((file) => !existsSync(file))
  if (missing === undefined) return
  const folder = process.cwd()
  throw new Error(
    existsSync(join(OUTPUT, 'cli.js'))
      ? `${folder} has a built project without its sources. Run this command where the sources are. Here, start the service and run its other commands: tallystick --help`
      : `There is no ${missing} in ${folder}. Run the command in the folder of a project, or create a project: tallystick new <folder>`,
  )
}

export const hasPage = () => existsSync('app/index.html')

/** Builds the page to `dist/pages/app`, unless the page is up to date. Lock files have the versions of the packages. */
const buildPage = () =>
  buildIfChanged('dist/pages/app', ['app', 'package.json', ...lockFiles].filter(existsSync), async () => {
    const program = fileURLToPath(new URL('project-build-page.js', import.meta.url))
    // In a process of its own, because Vite selects the code for production with NODE_ENV.
    const { stdout } = await promisify(execFile)(process.execPath, [program], {
      env: { ...process.env, NODE_ENV: 'production' },
    })
    // The files that Vite has read: a change of one of them needs another build.
    return JSON.parse(stdout) as string[]
  })

/** Builds the page, and bundles the own code of the project to `dist/start`. Writes only what has changed. */
export async function buildProject() {
  requireProject()
  if (hasPage()) await buildPage()
  const options = bundleOptions(OUTPUT, '.')
  const { outputFiles, metafile } = await build({
    ...options,
    splitting: true, // both programs import one copy of the shared code
    entryPoints: entryPoints('main', 'cli'),
    plugins: [programsPlugin, ...options.plugins],
    write: false, // `writeIfChanged` writes the files
    metafile: true,
  })
  const written = new Map<string, Uint8Array>(outputFiles.map(({ path, contents }) => [path, contents]))
  for (const file of listFilesBeside(Object.keys(metafile.inputs)))
    written.set(resolve(OUTPUT, file), readFileSync(file))
  for (const [path, contents] of written) writeIfChanged(path, contents)
  for (const file of filesIn(OUTPUT)) if (!written.has(resolve(file))) rmSync(file)
}

/**
 * Lists the files that the code can find beside itself, such as migrations: in each folder of the project with sources, all
 * files except for sources.
 */
function listFilesBeside(sources: readonly string[]) {
  // Not `../…`, `program:…` and files outside of a folder.
  const inFolder = /^\w[^:]*\//
  const folders = new Set(
    sources.filter((path) => inFolder.test(path)).map((path) => path.split('/', 1)[0] ?? ''),
  )
  return [...folders].flatMap(filesIn).filter((file) => !/\.[cm]?tsx?$|(^|\/)node_modules\//.test(file))
}

/** Replaces a file at once, because another process can read the file. */
function writeIfChanged(path: string, contents: Uint8Array) {
  if (existsSync(path) && readFileSync(path).equals(contents)) return
  mkdirSync(dirname(path), { recursive: true })
  const temporary = `${path}.${process.pid}`
  writeFileSync(temporary, contents)
  renameSync(temporary, path)
}
