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

export const forEachPackage = <T>(valueOf: (name: PackageName) => T): Record<PackageName, T> =>
  Object.fromEntries(packageNames.map((name) => [name, valueOf(name)])) as Record<PackageName, T>

/** Where `tallystick-dev` can be, seen from its bundle, from the bundle of the service in dist/start, and from this file. */
const PLACES = ['..', '../packages/tallystick-dev', '../../../dist/packages/tallystick-dev']

/** Returns the folder of the package `tallystick-dev`. The folders of the other packages are beside this folder. */
export function findDevPackage() {
  const found = PLACES.map((path) => fileURLToPath(new URL(path, import.meta.url))).find((path) =>
    existsSync(join(path, 'template/package.json')),
  )
  if (found !== undefined) return found
  throw new Error('The packages for a project are missing. In a clone of Tallystick, run: npm run build')
}

export const versionIn = (folder: string) =>
  (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version
