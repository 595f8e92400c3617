import { build } from 'esbuild'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

import { buildIfChanged } from './inputs.ts'

/** Builds all pages to `dist/pages`. `engine/http/endpoints/files.ts` serves the result. */
export const buildPages = () =>
  buildIfChanged(
    'dist/pages',
    [
      '.config',
      'app',
      'contract',
      'engine/contract',
      'engine/page',
      'pages',
      'src/messages',
      'package-lock.json',
    ],
    () => Promise.all([...readdirSync('pages').map(buildPage), buildApp()]),
  )

const vite = 'node_modules/vite/bin/vite.js'

/** Builds the page at `/` with Vite. */
async function buildApp() {
  // In a process of its own, because Vite selects the code for production with NODE_ENV. The configuration imports sources of
  // the workspace, which Node.js 20 loads only with tsx.
  await promisify(execFile)('node_modules/.bin/tsx', [vite, 'build', '--config', '.config/vite.ts'], {
    env: { ...process.env, NODE_ENV: 'production' },
  })
  await compressFolder('dist/pages/app')
}

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
    minify: true,
    platform: 'browser',
    target: 'es2022',
    outdir: join(folder, 'assets'),
    entryNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
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
    (_, extension) => `/${name}/assets/${basename(assets.find((file) => extname(file) === extension) ?? '')}`,
  )
  const index = join(folder, 'index.html')
  writeIfChanged(index, Buffer.from(page))
  await compressFolder(folder)
  removeExcept(folder, [index, ...assets])
}

/** Keeps an unchanged file, so that its compressed copies remain valid. */
function writeIfChanged(file: string, contents: Uint8Array) {
  if (existsSync(file) && readFileSync(file).equals(contents)) return
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, contents)
}

const compressors = {
  '.br': promisify(brotliCompress),
  '.gz': (bytes: Buffer) => promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
}

/** The files that become smaller. Images and fonts are compressed already. */
const COMPRESSIBLE = /\.(css|html|js|json|svg|txt|webmanifest)$/

/** Writes a copy with Brotli and a copy with gzip beside each file, unless an up-to-date copy exists. */
export async function compressFolder(folder: string) {
  for (const file of filesIn(folder).filter((path) => COMPRESSIBLE.test(path)))
    for (const [extension, compress] of Object.entries(compressors)) {
      const copy = file + extension
      if (existsSync(copy) && statSync(copy).mtimeMs >= statSync(file).mtimeMs) continue
      writeFileSync(copy, await compress(readFileSync(file)))
    }
}

/** Removes the files of earlier builds. */
function removeExcept(folder: string, kept: string[]) {
  for (const file of filesIn(folder)) if (!kept.includes(file.replace(/\.(br|gz)$/, ''))) rmSync(file)
}

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
