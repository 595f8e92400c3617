import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The packages of the engine that a project installs: the name, and the folder of the sources in the repository. */
export const enginePackages = {
  tallystick: 'engine',
  'tallystick-contract': 'engine/contract',
  'tallystick-dev': 'engine/dev',
} as const

export type PackageName = keyof typeof enginePackages

const isPackageName = (name: string): name is PackageName => Object.hasOwn(enginePackages, name)

export const packageNames = Object.keys(enginePackages).filter(isPackageName)

/** Returns a value for each package of the engine. */
export const forEachPackage = <T>(valueOf: (name: PackageName) => T): Record<PackageName, T> =>
  Object.fromEntries(packageNames.map((name) => [name, valueOf(name)])) as Record<PackageName, T>

/**
 * The folder of this package as it is published, seen from the bundle in the package, from the bundle of the service in
 * dist/start, and from this file.
 */
const findPackage = () =>
  ['..', '../packages/tallystick-dev', '../../../dist/packages/tallystick-dev']
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(join(path, 'template/package.json')))

/** Returns the folder of the package `tallystick-dev`. The folders of the other packages are beside this folder. */
export function findEngine() {
  const engine = findPackage()
  if (engine === undefined)
    throw new Error('The packages for a project are missing. In a clone of Tallystick, run: npm run build')
  return engine
}

/** Returns the version of the package in a folder. */
export const versionIn = (folder: string) =>
  (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version
