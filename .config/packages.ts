import { build, type BuildOptions } from 'esbuild'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'

import { enginePackages, forEachPackage, packageNames } from '../engine/dev/create/packages.ts'
import { uniqueVersion } from '../engine/dev/create/version.ts'
import { buildIfChanged } from '../engine/dev/project/inputs.ts'
import { bundlePackages, licensesOf } from './bundle-packages.ts'
import { addEmptyDatabase, buildEmptyDatabase } from './empty-database.ts'
import {
  compiled,
  copyDocuments,
  folders,
  isSource,
  type Manifest,
  mapExports,
  publishedFields,
  readManifest,
  requiredPeers,
  writeManifest,
} from './manifests.ts'

/**
 * Writes a package as it is published. The archive contains the other packages of the repository that the package depends
 * on, so that an application can install the archive without a registry. npm does not install the dependencies of these
 * packages, so the archive declares them itself.
 */
export function writePackage(source: string, destination: string) {
  const manifest = readManifest(source)
  const bundled = Object.keys(manifest.dependencies).filter((name) => Object.hasOwn(folders, name))
  const inherited = bundled.flatMap((name) => {
    const other = readManifest(folders[name] ?? '')
    return [other.dependencies, requiredPeers(other)]
  })
  const dependencies = Object.assign({}, ...inherited, manifest.dependencies) as Manifest['dependencies']
  mkdirSync(destination, { recursive: true })
  if (source === '.')
    for (const path of manifest.files) cpSync(path, join(destination, path), { recursive: true })
  else
    cpSync(join('dist', source), join(destination, 'dist'), {
      recursive: true,
      // The package in engine/contract is not part of the package in engine.
    })
  copyDocuments(source, destination)
  writeManifest(destination, {
    ...publishedFields(manifest),
    exports: mapExports(manifest, compiled),
    dependencies,
    ...(bundled.length > 0 && { bundleDependencies: bundled }),
  })
  for (const name of bundled) writePackage(folders[name] ?? '', join(destination, 'node_modules', name))
}

/** The name of the bundled file of an entry point: `db-open` for `./db/open.ts`. */
const bundleNameOf = (entry: string) =>
  entry
    .replace(/^\.\//, '')
    .replace(/(\/index)?\.ts$/, '')
    .replaceAll('/', '-')

/** The source of the command `tallystick`. */
const COMMAND = './command.ts'

/** Options of both bundles. */
const common = {
  bundle: true,
  splitting: true,
  format: 'esm',
  logLevel: 'warning',
} satisfies BuildOptions

const forNode = {
  ...common,
  platform: 'node',
  target: 'node20',
  minifySyntax: true,
  minifyWhitespace: true,
  // CommonJS packages in the bundle call `require`, which ES modules do not define.
  banner: {
    js: "import { createRequire as createRequireOfBundle } from 'node:module'; const require = createRequireOfBundle(import.meta.url);",
  },
} satisfies BuildOptions

/** The files of the engine that `tallystick-dev` imports as `tallystick/internal/…`. */
const internalFiles = () =>
  [
    ...new Set(
      readdirSync('engine/dev', { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .flatMap((file) =>
          [
            ...readFileSync(join('engine/dev', file), 'utf8').matchAll(/'tallystick\/internal\/([^']+)'/g),
          ].map(([, path = '']) => path),
        ),
    ),
  ].sort()

/** Writes the declarations of the compiler for the files in a folder. */
function copyDeclarations(source: string, destination: string, others: readonly string[]) {
  cpSync(join('dist', source), join(destination, 'dist/types'), {
    recursive: true,
    filter: (path) => !others.some((other) => path === join('dist', other)) && !/\.js(\.map)?$/.test(path),
  })
}

/**
 * Writes the package `tallystick` as it is published: the bundled entry points with the packages that only the engine needs,
 * the declarations of the compiler, the engine's migrations, and the pages for developers. Needs the output of the compiler
 * and the built pages in `dist`.
 */
export async function writeEngine(destination: string) {
  const manifest = readManifest('engine')
  rmSync(destination, { recursive: true, force: true })
  const entries = Object.values(manifest.exports).filter(isSource)
  const internal = internalFiles()
  const { metafile } = await build({
    ...forNode,
    entryPoints: Object.fromEntries([
      ...[...entries, COMMAND].map((entry) => [bundleNameOf(entry), posix.join('engine', entry)]),
      ...internal.map((file) => [`internal/${file}`, posix.join('engine', `${file}.ts`)]),
    ]),
    outdir: join(destination, 'dist'),
    plugins: [bundlePackages(manifest)],
    metafile: true,
  })
  writeFileSync(join(destination, 'dist/LICENSES.txt'), licensesOf(Object.keys(metafile.inputs)))
  copyDeclarations('engine', destination, ['engine/contract', 'engine/dev'])
  cpSync('engine/db/migrations', join(destination, 'dist/engine-migrations'), {
    recursive: true,
    // Only drizzle-kit reads the snapshots, for the next migration of the engine.
    filter: (path) => !path.endsWith('_snapshot.json'),
  })
  await buildEmptyDatabase()
  addEmptyDatabase(join(destination, 'dist'))
  for (const page of ['docs', 'console'])
    cpSync(join('dist/pages', page), join(destination, 'pages', page), { recursive: true })
  copyDocuments('engine', destination)
  writeManifest(destination, {
    ...publishedFields(manifest),
    bin: { [manifest.name]: `./dist/${bundleNameOf(COMMAND)}.js` },
    exports: {
      ...mapExports(manifest, (entry) => (isSource(entry) ? published(entry, bundleNameOf(entry)) : entry)),
      './internal/*': { types: './dist/types/*.d.ts', default: './dist/internal/*.js' },
    },
  })
}

const published = (entry: string, file: string) => ({
  types: entry.replace('./', './dist/types/').replace(/\.ts$/, '.d.ts'),
  default: `./dist/${file}.js`,
})

/** The frame of the page runs in browsers, and its types need the DOM. */
const isPage = (entry: string) => entry.startsWith('./page/')

/** The program that builds the page of a project. The command starts the program in a process of its own. */
const BUILD_PAGE = './project/build-page.ts'

/** Writes the package `tallystick-dev` as it is published: the bundled entry points, the declarations and the template. */
async function writeDevelopment(destination: string) {
  const manifest = readManifest('engine/dev')
  rmSync(destination, { recursive: true, force: true })
  const entries = Object.values(manifest.exports).filter(isSource)
  const programs = [...entries.filter((entry) => !isPage(entry)), BUILD_PAGE]
  const outdir = join(destination, 'dist')
  await build({
    ...forNode,
    packages: 'external',
    entryPoints: Object.fromEntries(
      programs.map((entry) => [bundleNameOf(entry), posix.join('engine/dev', entry)]),
    ),
    outdir,
  })
  await build({
    ...common,
    packages: 'external',
    target: 'es2022',
    jsx: 'automatic',
    entryPoints: entries.filter(isPage).map((entry) => posix.join('engine/dev', entry)),
    outbase: 'engine/dev',
    outdir,
  })
  for (const name of ['styles.css', 'tokens.css'])
    cpSync(join('engine/dev/page', name), join(outdir, 'page', name))
  copyDeclarations('engine/dev', destination, [])
  for (const folder of ['samples', 'template'])
    cpSync(join('engine/dev/create', folder), join(destination, folder), {
      recursive: true,
      filter: (path) => !/\/(node_modules|dist|\.data)$/.test(path),
    })
  copyDocuments('engine/dev', destination)
  writeManifest(destination, {
    ...publishedFields(manifest),
    exports: mapExports(manifest, (entry) =>
      isSource(entry)
        ? published(entry, isPage(entry) ? entry.slice(2).replace(/\.ts$/, '') : bundleNameOf(entry))
        : String(entry).replace('./page/', './dist/page/'),
    ),
  })
}

/** What decides the content of the packages. */
const INPUTS = ['.config', 'engine', 'pages', 'package-lock.json']

const PACKAGES = 'dist/packages'

/**
 * Writes the packages for `tallystick new` (engine/dev/create/packages.ts), unless the packages are up to date. `compile`
 * writes the output of the compiler if the output is not written yet.
 */
export async function buildPackages(compile?: () => Promise<void>) {
  await buildIfChanged(PACKAGES, INPUTS, async () => {
    await compile?.()
    rmSync(PACKAGES, { recursive: true, force: true })
    await writeEngine(join(PACKAGES, 'tallystick'))
    await writeDevelopment(join(PACKAGES, 'tallystick-dev'))
    writePackage(enginePackages['tallystick-contract'], join(PACKAGES, 'tallystick-contract'))
    return undefined
  })
  stampVersions()
}

/** Gives the packages in dist/packages a version that no other build has. A release has the versions of the repository. */
function stampVersions() {
  const version = uniqueVersion(readManifest('engine').version, {
    folder: '.',
    paths: INPUTS,
    hash: () =>
      createHash('sha256')
        .update(readFileSync(`${PACKAGES}.inputs.json`))
        .digest('hex'),
  })
  const versions: Record<string, string> = forEachPackage(() => version)
  const withVersions = (dependencies: Record<string, string> = {}) =>
    Object.fromEntries(Object.entries(dependencies).map(([name, range]) => [name, versions[name] ?? range]))
  for (const name of packageNames) {
    const { dependencies, peerDependencies, ...manifest } = readManifest(join(PACKAGES, name))
    writeManifest(join(PACKAGES, name), {
      ...manifest,
      version,
      dependencies: withVersions(dependencies),
      ...(peerDependencies && { peerDependencies: withVersions(peerDependencies) }),
    })
  }
}
