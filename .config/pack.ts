import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// Packs a built package of the repository, for example `tallystick-client` in `contract`. Without the second argument, writes
// the archive to the folder in which `npm run` was started. Prints the name of the archive.

interface Manifest {
  name: string
  files: string[]
  exports: Record<string, unknown>
  dependencies: Record<string, string>
}

/** Fields of package.json that only the development of the package uses. */
const DEVELOPMENT = ['allowScripts', 'devDependencies', 'overrides', 'scripts', 'workspaces']

/** The folders of the packages by the name of the package. The compiler writes each folder to `dist/<folder>`. */
const folders: Record<string, string> = {
  tallystick: 'engine',
  'tallystick-client': 'contract',
  'tallystick-contract': 'engine/contract',
}

const readManifest = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest

/** In the repository, an entry point is a source file. In an archive, an entry point is its compiled file. */
const published = (entry: unknown) =>
  typeof entry === 'string' && entry.endsWith('.ts')
    ? {
        types: entry.replace('./', './dist/').replace(/\.ts$/, '.d.ts'),
        default: entry.replace('./', './dist/').replace(/\.ts$/, '.js'),
      }
    : entry

/**
 * Writes a package as it is published. The archive contains the other packages of the repository that the package depends
 * on, so that an application can install the archive without a registry. npm does not install the dependencies of these
 * packages, so the archive declares them itself.
 */
function writePackage(source: string, destination: string) {
  const manifest = readManifest(source)
  const bundled = Object.keys(manifest.dependencies).filter((name) => Object.hasOwn(folders, name))
  const dependencies = Object.assign(
    {},
    ...bundled.map((name) => readManifest(folders[name] ?? '').dependencies),
    manifest.dependencies,
  ) as Manifest['dependencies']
  const fields = Object.entries(manifest).filter(([field]) => !DEVELOPMENT.includes(field))
  mkdirSync(destination, { recursive: true })
  if (source === '.')
    for (const path of manifest.files) cpSync(path, join(destination, path), { recursive: true })
  else
    cpSync(join('dist', source), join(destination, 'dist'), {
      recursive: true,
      // The package in engine/contract is not part of the package in engine.
      filter: (path) => path !== join('dist', 'engine', 'contract') || source !== 'engine',
    })
  for (const name of ['README.md', 'LICENSE'])
    if (existsSync(join(source, name))) cpSync(join(source, name), join(destination, name))
  const entries = Object.entries(manifest.exports).map(([path, entry]) => [path, published(entry)])
  const content = {
    ...Object.fromEntries(fields),
    exports: Object.fromEntries(entries) as unknown,
    dependencies,
    ...(bundled.length > 0 && { bundleDependencies: bundled }),
  }
  writeFileSync(join(destination, 'package.json'), `${JSON.stringify(content, null, 2)}\n`)
  for (const name of bundled) writePackage(folders[name] ?? '', join(destination, 'node_modules', name))
}

// The archive would have neither the patched PostgreSQL driver nor the pages.
if (process.argv[2] === 'engine') throw new Error('The package `tallystick` cannot be packed on its own yet')

const [, , source = '.', destination = process.env.INIT_CWD ?? '.'] = process.argv
const folder = mkdtempSync(join(tmpdir(), 'tallystick-pack-'))
try {
  writePackage(source, folder)
  execFileSync('npm', ['pack', folder, '--ignore-scripts', '--silent', '--pack-destination', destination], {
    stdio: 'inherit',
  })
} finally {
  rmSync(folder, { recursive: true })
}
