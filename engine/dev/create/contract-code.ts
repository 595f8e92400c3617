import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, relative, resolve, sep } from 'node:path'

import { filesIn } from './folder.ts'
import { findInstalled, readManifest } from './installed.ts'

/** The entry point of the client, and the contract. */
export const ENTRIES = { '.': 'client', './contract': 'index' }

/** Compiles the contract to the folder `dist` with the compiler of the project. The contract must not need Node. */
export function compileContract(folder: string) {
  const compiler = findInstalled('typescript')
  const config = {
    extends: resolve('tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      rootDir: resolve('contract'),
      outDir: join(folder, 'dist'),
      rewriteRelativeImportExtensions: true,
      lib: ['ES2023', 'DOM', 'DOM.Iterable'],
      types: [],
    },
    files: Object.values(ENTRIES).map((name) => resolve('contract', `${name}.ts`)),
    include: [],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const program = join(compiler, readManifest(compiler).bin?.tsc ?? 'bin/tsc')
  try {
    execFileSync(process.execPath, [program, '-p', join(folder, 'tsconfig.json')], { encoding: 'utf8' })
  } catch (error) {
    const output = error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error)
    throw new Error(`The contract has mistakes, or needs more than a browser has:\n${output}`, {
      cause: error,
    })
  } finally {
    rmSync(join(folder, 'tsconfig.json'))
  }
}

const IMPORT = /\b((?:from|import)\s*\(?\s*)(['"])([^'"]+)\2/g

/** The compiled files in a folder, and their types. */
const compiledFilesIn = (folder: string) => filesIn(folder).filter((file) => /\.(js|d\.ts)$/.test(file))

/** Replaces the paths of imports by files in the folder. */
export function replaceImports(folder: string, files: ReadonlyMap<string, string>) {
  for (const path of compiledFilesIn(folder)) {
    const code = readFileSync(path, 'utf8')
    const changed = code.replace(IMPORT, (all, start: string, quote: string, imported: string) => {
      const file = files.get(imported)
      if (file === undefined) return all
      const found = relative(dirname(path), join(folder, file)).replaceAll(sep, '/')
      return `${start}${quote}${found.startsWith('.') ? found : `./${found}`}${quote}`
    })
    if (changed !== code) writeFileSync(path, changed)
  }
}

/** The names of the packages that compiled files import, also in their types. */
export function importsIn(folder: string) {
  const paths = compiledFilesIn(folder).flatMap((path) =>
    Array.from(readFileSync(path, 'utf8').matchAll(IMPORT), ([, , , imported = '']) => imported),
  )
  const names = paths
    .filter((path) => !path.startsWith('.') && !isBuiltin(path))
    .map((path) =>
      path
        .split('/')
        .slice(0, path.startsWith('@') ? 2 : 1)
        .join('/'),
    )
  return [...new Set(names)].sort()
}
