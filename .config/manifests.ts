import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { enginePackages } from '../engine/dev/create/packages.ts'

/** package.json of a package of the repository. */
export interface Manifest {
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
export const folders: Record<string, string> = { ...enginePackages, 'tallystick-client': 'contract' }

export const readManifest = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest

/** A source file that is an entry point of a package: `./db/open.ts`. */
export const isSource = (entry: unknown): entry is string =>
  typeof entry === 'string' && /^[^*]+\.ts$/.test(entry)

/** In the repository, an entry point is a source file. In an archive, an entry point is its compiled file. */
export const compiled = (entry: unknown) =>
  isSource(entry)
    ? {
        types: entry.replace('./', './dist/').replace(/\.ts$/, '.d.ts'),
        default: entry.replace('./', './dist/').replace(/\.ts$/, '.js'),
      }
    : entry

export const writeManifest = (folder: string, content: Record<string, unknown>) => {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(content, null, 2)}\n`)
}

export const publishedFields = (manifest: Manifest) =>
  Object.fromEntries(Object.entries(manifest).filter(([field]) => !DEVELOPMENT.includes(field)))

export const mapExports = ({ exports }: Manifest, map: (entry: unknown) => unknown) =>
  Object.fromEntries(Object.entries(exports).map(([path, entry]) => [path, map(entry)]))

export function copyDocuments(source: string, destination: string) {
  for (const name of ['README.md', 'LICENSE'])
    if (existsSync(join(source, name))) cpSync(join(source, name), join(destination, name))
}

/** The packages that an application must install beside a package. */
export const requiredPeers = ({ peerDependencies = {}, peerDependenciesMeta = {} }: Manifest) =>
  Object.fromEntries(
    Object.entries(peerDependencies).filter(([name]) => !peerDependenciesMeta[name]?.optional),
  )
