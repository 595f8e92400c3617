import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { codeOf } from 'tallystick/internal/db/errors'
import { findDevPackage, forEachPackage, type PackageName, packageNames } from './packages.ts'

/** The folder of a project with the archives of the engine. */
export const VENDOR = 'vendor'

interface Archive {
  name: string
  content: Buffer
}

/** Prints lines of a command while it works. */
export type Print = (lines: readonly string[]) => void

/** Packs the packages of the engine, which no registry has yet. Prints each package, because packing takes most of the time of `new`. */
export function packEngine(print: Print): Record<PackageName, Archive> {
  const devPackage = findDevPackage()
  return forEachPackage((name) => {
    print([`Packing ${name} (${packageNames.indexOf(name) + 1} of ${packageNames.length})…`])
    return packFolder(join(devPackage, '..', name))
  })
}

/** Returns the versions of the packages in package.json: archives in the project. */
export const archiveVersions = (archives: Record<PackageName, Archive>) =>
  forEachPackage((name) => `file:${VENDOR}/${archives[name].name}`)

export function packFolder(folder: string): Archive {
  const scratch = mkdtempSync(join(tmpdir(), 'tallystick-pack-'))
  try {
    const options = ['--ignore-scripts', '--silent', '--pack-destination', scratch]
    const name = execFileSync('npm', ['pack', folder, ...options], { encoding: 'utf8' }).trim()
    return { name, content: readFileSync(join(scratch, name)) }
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    throw new Error('npm is not in PATH, and packs the packages. Install npm, which is a part of Node.', {
      cause: error,
    })
  } finally {
    rmSync(scratch, { recursive: true })
  }
}
