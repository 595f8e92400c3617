import { build } from 'esbuild'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { promisify } from 'node:util'

import { filesIn } from '../engine/dev/create/folder.ts'
import { compressFolder } from '../engine/dev/project/compress.ts'
import { buildIfChanged } from '../engine/dev/project/inputs.ts'

/** Builds all pages to `dist/pages`. `engine/http/endpoints/files.ts` serves the result. */
export const buildPages = () =>
  buildIfChanged(
    'dist/pages',
    [
      '.config',
      'app',
      'contract',
      'engine/contract',
      'engine/dev/page',
      'engine/dev/project',
      'pages',
      'src/messages',
      'package-lock.json',
    ],
    async () => {
      await Promise.all([...readdirSync('pages').map(buildPage), buildApp()])
      return undefined
    },
  )

/** Builds the page at `/` with Vite. */
const buildApp = () =>
  // Node.js 20 loads the sources of the workspace only with tsx.
  promisify(execFile)('node_modules/.bin/tsx', ['engine/dev/project/build-page.ts'], {
    env: { ...process.env, NODE_ENV: 'production' },
  })

/**
 * Builds the page `pages/<name>`: bundles `main.ts`, with a content hash in each file name, and inserts the names into
 * `index.html`.
 */
async function buildPage(name: string) {
  const source = join('pages', name)
  const folder = join('dist', 'pages', name)
  const { outputFiles } = await build({
    entryPoints: [join(source, 'main.ts')],
    bundle: true,
    // Texts of a language are files of their own, which the page loads on demand.
    format: 'esm',
    splitting: true,
    minify: true,
    platform: 'browser',
    target: 'es2022',
    outdir: join(folder, 'assets'),
    entryNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    loader: { '.woff2': 'file' },
    logLevel: 'warning',
    write: false,
  })
  const assets = outputFiles.map(({ path, contents }) => {
    const file = join(folder, 'assets', basename(path))
    writeIfChanged(file, contents)
    return file
  })
  const page = readFileSync(join(source, 'index.html'), 'utf8').replace(
    /(?<=(?:src|href)=")main(\.\w+)(?=")/g,
    (_, extension: string) =>
      `/${name}/assets/${basename(assets.find((file) => isMain(file, extension)) ?? '')}`,
  )
  const index = join(folder, 'index.html')
  writeIfChanged(index, Buffer.from(page))
  await compressFolder(folder)
  removeExcept(folder, [index, ...assets])
}

const isMain = (file: string, extension: string) =>
  basename(file).startsWith('main-') && extname(file) === extension

/** Keeps an unchanged file, so that its compressed copies remain valid. */
function writeIfChanged(file: string, contents: Uint8Array) {
  if (existsSync(file) && readFileSync(file).equals(contents)) return
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, contents)
}

/** Removes the files of earlier builds. */
function removeExcept(folder: string, kept: string[]) {
  for (const file of filesIn(folder)) if (!kept.includes(file.replace(/\.(br|gz)$/, ''))) rmSync(file)
}
