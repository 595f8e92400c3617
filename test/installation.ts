import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

/** Installs packages in an application with npm, from the cache of npm if the cache contains the packages. */
export const install = (app: string, ...packages: string[]) =>
  promisify(execFile)('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...packages], {
    cwd: app,
  })

/** Returns packages with the versions that the repository uses. */
export async function versionsOf(...names: string[]) {
  const { dependencies, devDependencies } = JSON.parse(await readFile('package.json', 'utf8')) as Record<
    string,
    Record<string, string>
  >
  const versions = { ...dependencies, ...devDependencies }
  return names.map((name) => `${name}@${versions[name] ?? ''}`)
}

/** The packages that docs/tanstack-query.md adds to an application. */
export const tanstackPackages = () =>
  versionsOf('@orpc/tanstack-query', '@tanstack/react-query', 'react', 'react-dom')
