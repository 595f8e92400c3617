import { build, type BuildOptions, type Plugin } from 'esbuild'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'

import { enginePackages, forEachPackage, packageNames } from '../engine/dev/create/packages.ts'
import { uniqueVersion } from '../engine/dev/create/version.ts'
import { buildIfChanged } from '../engine/dev/project/inputs.ts'

/** package.json of a package of the repository. */
interface Manifest {
  name: string
  version: string
  license?: string
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
const isSource = (entry: unknown): entry is string => typeof entry === 'string' && /^[^*]+\.ts$/.test(entry)

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

/** The package of a specifier: `@orpc/server` for `@orpc/server/node`. */
const packageOf = (path: string) => path.split('/', path.startsWith('@') ? 2 : 1).join('/')

/** The patched driver, because patch-package does not reach applications, and the file of Drizzle that imports the driver. */
const PATCHED = ['postgres', 'drizzle-orm/postgres-js']

/**
 * Bundles the packages that only the engine needs: they are development dependencies in its package.json. An application
 * then has one copy of each package that the application itself can import, and starts with few files.
 */
const bundlePackages = ({ dependencies, peerDependencies }: Manifest): Plugin => ({
  name: 'bundle-packages',
  setup({ onResolve }) {
    const installed = { ...dependencies, ...peerDependencies }
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind !== 'entry-point' && !PATCHED.includes(path) && Object.hasOwn(installed, packageOf(path))
        ? { external: true }
        : undefined,
    )
    onResolve({ filter: /^\.\.?\// }, ({ path, importer }) => {
      const [, file] = /node_modules\/(drizzle-orm\/.*)$/.exec(importer) ?? []
      if (file === undefined || path === './driver.js') return undefined
      return { external: true, path: posix.join(posix.dirname(file), path).replace(/\.js$/, '') }
    })
  },
})

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

/** The licenses of the packages in a bundle ask for their texts beside the copies. */
function licensesOf(inputs: readonly string[]) {
  const folders = inputs
    .map((file) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? '')
    .filter(Boolean)
  return [...new Set(folders)]
    .sort()
    .map((folder) => {
      const { name, version, license } = JSON.parse(
        readFileSync(join(folder, 'package.json'), 'utf8'),
      ) as Manifest
      const texts = readdirSync(folder).filter((file) => /^licen[cs]e/i.test(file))
      return [
        `${name} ${version}: ${license}`,
        ...texts.map((file) => readFileSync(join(folder, file), 'utf8')),
      ].join('\n\n')
    })
    .join(`\n\n${'-'.repeat(80)}\n\n`)
}

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
  cpSync('engine/dev/create/template', join(destination, 'template'), {
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
