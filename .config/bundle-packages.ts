import type { Plugin } from 'esbuild'
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

import type { Manifest } from './manifests.ts'

/** The package of a specifier: `@orpc/server` for `@orpc/server/node`. */
const packageOf = (path: string) => path.split('/', path.startsWith('@') ? 2 : 1).join('/')

/** The patched driver, because patch-package does not reach applications, and the file of Drizzle that imports the driver. */
const PATCHED = ['postgres', 'drizzle-orm/postgres-js']

/**
 * Bundles the packages that only the engine needs: they are development dependencies in its package.json. An application
 * then has one copy of each package that the application itself can import, and starts with few files.
 */
export const bundlePackages = ({ dependencies, peerDependencies }: Manifest): Plugin => ({
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

/** The licenses of the packages in a bundle ask for their texts beside the copies. */
export function licensesOf(inputs: readonly string[]) {
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
