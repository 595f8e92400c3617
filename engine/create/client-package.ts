import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve, sep } from 'node:path'

import { packFolder } from './archives.ts'
import { quoteWord } from './shell.ts'
import { hashFolder, uniqueVersion } from './version.ts'

/** The entry point of the client, and the contract. */
const ENTRIES = { '.': 'client', './contract': 'index' }

const BUILDERS = 'tallystick-contract'

interface Manifest {
  name: string
  version: string
  bin?: Record<string, string>
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: object
}

const readManifest = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest

/** The folder of a package as a module in a folder finds the package. Undefined if the package is not installed. */
function findPackage(name: string, from: string): string | undefined {
  const folder = join(from, 'node_modules', name)
  if (existsSync(join(folder, 'package.json'))) return realpathSync(folder)
  return from === dirname(from) ? undefined : findPackage(name, dirname(from))
}

/** The folder of a package of the project in the working folder. */
function findInstalled(name: string) {
  const folder = findPackage(name, process.cwd())
  if (folder === undefined)
    throw new Error(`The package ${name} is not installed. Install the packages of the project.`)
  return folder
}

/**
 * Packs the contract of the project in the working folder as a package with typed clients, and without the service. The
 * archive contains `tallystick-contract`, which no registry has yet. Writes the archive to a folder. Returns lines that
 * describe the result.
 */
export function packClient(destination: string): string[] {
  if (!existsSync('contract/client.ts'))
    throw new Error(
      'There is no contract/client.ts, the entry point of the package. Run `npx tallystick upgrade`, which shows the file, or create a new project and copy its file.',
    )
  const scratch = mkdtempSync(join(tmpdir(), 'tallystick-client-'))
  try {
    compileContract(scratch)
    writePackage(scratch)
    const { name, content } = packFolder(scratch)
    const archive = join(destination, name)
    writeFileSync(archive, content)
    const shown = relative(process.cwd(), archive)
    return [`Packed ${shown}. In the folder of the front end: npm install ${quoteWord(resolve(archive))}`]
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

/** Compiles the contract to the folder `dist` with the compiler of the project. The contract must not need Node. */
function compileContract(folder: string) {
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

function writePackage(folder: string) {
  const project = readManifest('.')
  const source = findInstalled(BUILDERS)
  const builders = readManifest(source)
  const query = `export * from '${BUILDERS}/query'\n`
  for (const extension of ['js', 'd.ts']) writeFileSync(join(folder, 'dist', `query.${extension}`), query)
  copyPackage(source, join(folder, 'node_modules', BUILDERS))
  const declared: Record<string, string> = {
    ...builders.dependencies,
    ...project.devDependencies,
    ...project.dependencies,
    [BUILDERS]: builders.version,
  }
  const imported = importsIn(join(folder, 'dist'))
  const indirect = imported.filter((name) => declared[name] === undefined)
  const direct = imported.filter((name) => !indirect.includes(name))
  const versions = [
    ...direct.map((name) => [name, declared[name]] as const),
    ...indirect.map((name) => [name, versionBehind(name, direct)] as const),
  ]
  const manifest = {
    name: `${project.name}-client`,
    version: uniqueVersion(project.version, {
      folder: '.',
      paths: ['contract', 'package.json', 'vendor'],
      hash: () => hashFolder(folder),
    }),
    description: `The typed clients and the contract of ${project.name}, without the service.`,
    type: 'module',
    sideEffects: false,
    exports: {
      ...Object.fromEntries(
        Object.entries({ ...ENTRIES, './query': 'query' }).map(([path, name]) => [
          path,
          { types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` },
        ]),
      ),
      './package.json': './package.json',
    },
    files: ['dist'],
    // npm does not install the dependencies of a package in the archive.
    dependencies: { ...builders.dependencies, ...Object.fromEntries(versions) },
    bundleDependencies: [BUILDERS],
    peerDependencies: builders.peerDependencies,
    peerDependenciesMeta: builders.peerDependenciesMeta,
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

/** The version of a package that only the types of other packages name, such as a package behind oRPC. */
function versionBehind(name: string, packages: readonly string[]) {
  for (const other of packages) {
    const folder = findPackage(name, findInstalled(other))
    if (folder !== undefined) return readManifest(folder).version
  }
  throw new Error(`The contract imports ${name}, which is not in package.json.`)
}

/** Copies a package without the packages below it. */
function copyPackage(source: string, destination: string) {
  mkdirSync(dirname(destination), { recursive: true })
  cpSync(source, destination, {
    recursive: true,
    dereference: true,
    filter: (path) => !relative(source, path).split(sep).includes('node_modules'),
  })
}

/** The names of the packages that compiled files import, also in their types. */
function importsIn(folder: string) {
  const code = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(js|d\.ts)$/.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
  const paths = code.flatMap((text) =>
    Array.from(text.matchAll(/\b(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g), ([, path = '']) => path),
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
