import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'

import { packFolder } from './archives.ts'
import { compileContract, ENTRIES, importsIn, replaceImports } from './contract-code.ts'
import { findInstalled, findPackage, readManifest } from './installed.ts'
import { quoteWord } from './shell.ts'
import { hashFolder, uniqueVersion } from './version.ts'

const CONTRACT_PACKAGE = 'tallystick-contract'

/**
 * Packs the contract of the project in the working folder as a package with typed clients, and without the service. Writes
 * the archive to a folder. Returns lines that describe the result.
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

function writePackage(folder: string) {
  const project = readManifest('.')
  const source = findInstalled(CONTRACT_PACKAGE)
  const contractManifest = readManifest(source)
  const query = `export * from '${CONTRACT_PACKAGE}/query'\n`
  for (const extension of ['js', 'd.ts']) writeFileSync(join(folder, 'dist', `query.${extension}`), query)
  includePackage(source, join(folder, 'dist'))
  const peers = Object.keys(contractManifest.peerDependencies ?? {})
  const declared: Record<string, string> = {
    ...contractManifest.dependencies,
    ...project.devDependencies,
    ...project.dependencies,
  }
  const imported = importsIn(join(folder, 'dist')).filter((name) => !peers.includes(name))
  const indirect = imported.filter((name) => declared[name] === undefined)
  const direct = imported.filter((name) => !indirect.includes(name))
  const versions = [
    ...direct.map((name) => [name, declared[name]] as const),
    ...indirect.map((name) => [name, versionBehind(name, direct)] as const),
  ]
  const manifest = {
    name: `${project.name}-client`,
    version: uniqueVersion(project.version ?? '0.0.0', {
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
    dependencies: { ...contractManifest.dependencies, ...Object.fromEntries(versions) },
    peerDependencies: contractManifest.peerDependencies,
    peerDependenciesMeta: contractManifest.peerDependenciesMeta,
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

/**
 * Copies the code of `tallystick-contract`, which no registry has yet, to a folder of the compiled contract, and lets the
 * contract import the copy. Not `bundleDependencies`, which yarn and bun do not support.
 */
function includePackage(source: string, compiled: string) {
  cpSync(join(source, 'dist'), join(compiled, CONTRACT_PACKAGE), { recursive: true, dereference: true })
  const { exports = {} } = readManifest(source)
  const paths = Object.entries(exports).flatMap(([path, entry]) =>
    typeof entry === 'string'
      ? []
      : [[CONTRACT_PACKAGE + path.slice(1), entry.default.replace('./dist', CONTRACT_PACKAGE)] as const],
  )
  replaceImports(compiled, new Map(paths))
}

/** The version of a package that only the types of other packages name, such as a package behind oRPC. */
function versionBehind(name: string, packages: readonly string[]) {
  const contractPackage = findInstalled(CONTRACT_PACKAGE)
  for (const other of packages) {
    // pnpm links only the packages that a package declares.
    const folder = findPackage(other, process.cwd()) ?? findPackage(other, contractPackage)
    const behind = folder && findPackage(name, folder)
    if (behind) return readManifest(behind).version ?? ''
  }
  throw new Error(`The contract imports ${name}, which is not in package.json.`)
}
