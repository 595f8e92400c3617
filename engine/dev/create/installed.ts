import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface Manifest {
  name: string
  version?: string
  bin?: Record<string, string>
  exports?: Record<string, string | { default: string }>
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: object
}

export const readManifest = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest

/** The folder of a package as a module in a folder finds the package. Undefined if the package is not installed. */
export function findPackage(name: string, from: string): string | undefined {
  const folder = join(from, 'node_modules', name)
  if (existsSync(join(folder, 'package.json'))) return realpathSync(folder)
  return from === dirname(from) ? undefined : findPackage(name, dirname(from))
}

/** The folder of a package of the project in the working folder. */
export function findInstalled(name: string) {
  const folder = findPackage(name, process.cwd())
  if (folder === undefined)
    throw new Error(`The package ${name} is not installed. Install the packages of the project.`)
  return folder
}
