import { build, type Plugin } from 'esbuild'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'

import { enginePackages, forEachPackage, packageNames } from '../engine/create/packages.ts'
import { uniqueVersion } from '../engine/create/version.ts'
import { buildIfChanged } from '../engine/project/inputs.ts'

/** package.json of a package of the repository. */
interface Manifest {
  name: string
  version: string
  files: string[]
  exports: Record<string, unknown>
  dependencies: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
}

/** Fields of package.json that only the development of the package uses. */
const DEVELOPMENT = ['allowScripts', 'devDependencies', 'overrides', 'scripts', 'workspaces']

/** The folders of the packages by the name of the package. The compiler writes each folder to `dist/<folder>`. */
const folders: Record<string, string> = { ...enginePackages, 'tallystick-client': 'contract' }

const readManifest = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest

/** A source file that is an entry point of a package: `./db/open.ts`. */
const isSource = (entry: unknown): entry is string => typeof entry === 'string' && entry.endsWith('.ts')

/** In the repository, an entry point is a source file. In an archive, an entry point is its compiled file. */
const compiled = (entry: unknown) =>
  isSource(entry)
    ? {
        types: entry.replace('./', './dist/').replace(/\.ts$/, '.d.ts'),
        default: entry.replace('./', './dist/').replace(/\.ts$/, '.js'),
      }
    : entry

const writeManifest = (folder: string, content: Record<string, unknown>) => {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(content, null, 2)}\n`)
}

const publishedFields = (manifest: Manifest) =>
  Object.fromEntries(Object.entries(manifest).filter(([field]) => !DEVELOPMENT.includes(field)))

const mapExports = ({ exports }: Manifest, map: (entry: unknown) => unknown) =>
  Object.fromEntries(Object.entries(exports).map(([path, entry]) => [path, map(entry)]))

function copyDocuments(source: string, destination: string) {
  for (const name of ['README.md', 'LICENSE'])
    if (existsSync(join(source, name))) cpSync(join(source, name), join(destination, name))
}

/** The packages that an application must install beside a package. */
const requiredPeers = ({ peerDependencies = {}, peerDependenciesMeta = {} }: Manifest) =>
  Object.fromEntries(
    Object.entries(peerDependencies).filter(([name]) => !peerDependenciesMeta[name]?.optional),
  )

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
      filter: (path) => path !== join('dist', 'engine', 'contract') || source !== 'engine',
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

/** The packages that are part of the bundle: the patched driver, and the one file of Drizzle that imports the driver. */
const BUNDLED = ['postgres', 'drizzle-orm/postgres-js']

/**
 * Leaves all packages out of the bundle, except for BUNDLED. An application then has one copy of each package that the
 * application itself imports.
 */
const externalPackages: Plugin = {
  name: 'external-packages',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || BUNDLED.includes(path) ? undefined : { external: true },
    )
    onResolve({ filter: /^\.\.?\// }, ({ path, importer }) => {
      const [, file] = /node_modules\/(drizzle-orm\/.*)$/.exec(importer) ?? []
      if (file === undefined || path === './driver.js') return undefined
      return { external: true, path: posix.join(posix.dirname(file), path).replace(/\.js$/, '') }
    })
  },
}

/** The source of the command `tallystick`. */
const COMMAND = './command.ts'

/** The program that builds the page of a project. The command starts the program in a process of its own. */
const BUILD_PAGE = './project/build-page.ts'

/** The frame of the page runs in browsers, and its types need the DOM. */
const isPage = (entry: string) => entry.startsWith('./page/')

/**
 * Writes the package `tallystick` as it is published: the bundled entry points with the patched PostgreSQL driver, because
 * patch-package does not reach applications, the declarations of the compiler, the engine's migrations, and the reference
 * page. Needs the output of the compiler and the built pages in `dist`.
 */
export async function writeEngine(destination: string) {
  const manifest = readManifest('engine')
  rmSync(destination, { recursive: true, force: true })
  const entries = Object.values(manifest.exports).filter(isSource)
  const programs = [...entries.filter((entry) => !isPage(entry)), COMMAND, BUILD_PAGE]
  await build({
    entryPoints: Object.fromEntries(
      programs.map((entry) => [bundleNameOf(entry), posix.join('engine', entry)]),
    ),
    outdir: join(destination, 'dist'),
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    plugins: [externalPackages],
    logLevel: 'warning',
  })
  await build({
    entryPoints: entries.filter(isPage).map((entry) => posix.join('engine', entry)),
    outbase: 'engine',
    outdir: join(destination, 'dist'),
    bundle: true,
    splitting: true,
    packages: 'external',
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    logLevel: 'warning',
  })
  for (const name of ['styles.css', 'tokens.css'])
    cpSync(join('engine/page', name), join(destination, 'dist/page', name))
  cpSync('dist/engine', join(destination, 'dist/types'), {
    recursive: true,
    filter: (path) => path !== join('dist', 'engine', 'contract') && !/\.js(\.map)?$/.test(path),
  })
  cpSync('engine/db/migrations', join(destination, 'dist/engine-migrations'), {
    recursive: true,
    // Only drizzle-kit reads the snapshots, for the next migration of the engine.
    filter: (path) => !path.endsWith('_snapshot.json'),
  })
  for (const page of ['docs', 'console'])
    cpSync(join('dist/pages', page), join(destination, 'pages', page), { recursive: true })
  cpSync('engine/create/template', join(destination, 'template'), {
    recursive: true,
    filter: (path) => !/\/(node_modules|dist|\.data)$/.test(path),
  })
  copyDocuments('engine', destination)
  writeManifest(destination, {
    ...publishedFields(manifest),
    bin: { [manifest.name]: `./dist/${bundleNameOf(COMMAND)}.js` },
    exports: mapExports(manifest, (entry) =>
      isSource(entry)
        ? {
            types: entry.replace('./', './dist/types/').replace(/\.ts$/, '.d.ts'),
            default: isPage(entry)
              ? entry.replace('./', './dist/').replace(/\.ts$/, '.js')
              : `./dist/${bundleNameOf(entry)}.js`,
          }
        : String(entry).replace('./page/', './dist/page/'),
    ),
  })
}

/** What decides the content of the packages. */
const INPUTS = ['.config', 'engine', 'pages', 'package-lock.json']

const PACKAGES = 'dist/packages'

/**
 * Writes the packages for `tallystick new` (engine/create/packages.ts), unless the packages are up to date. `compile` writes
 * the output of the compiler if the output is not written yet.
 */
export async function buildPackages(compile?: () => Promise<void>) {
  await buildIfChanged(PACKAGES, INPUTS, async () => {
    await compile?.()
    rmSync(PACKAGES, { recursive: true, force: true })
    for (const name of packageNames)
      if (name === 'tallystick') await writeEngine(join(PACKAGES, name))
      else writePackage(enginePackages[name], join(PACKAGES, name))
  })
  stampVersions()
}

/** Gives the packages in dist/packages a version that no other build has. A release has the versions of the repository. */
function stampVersions() {
  const version = uniqueVersion(readManifest('engine').version, {
    folder: '.',
    paths: INPUTS,
    hash: () => readFileSync(`${PACKAGES}.inputs`, 'utf8'),
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
