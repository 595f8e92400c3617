import { build, type BuildOptions } from 'esbuild'
import { cpSync, rmSync } from 'node:fs'

import { buildIfChanged } from '../engine/dev/project/inputs.ts'
import { addEmptyDatabase, buildEmptyDatabase } from './empty-database.ts'

/** These packages read files next to their own code, so they cannot be part of the bundle. */
export const external = ['@electric-sql/pglite', 'fs-native-extensions', 'open']

/** Options for the bundle of the service with its packages. */
export const bundleOptions = {
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: true,
  sourcesContent: false,
  minifySyntax: true,
  minifyWhitespace: true,
  // Only the commands that build, and applications with jobs or with files in a bucket, need these packages.
  external: [...external, '@aws-sdk/*', 'esbuild', 'pg-boss', 'vite'],
  // CommonJS packages in the bundle call `require`, which ES modules do not define.
  banner: {
    js: "import { createRequire as createRequireOfBundle } from 'node:module'; const require = createRequireOfBundle(import.meta.url);",
  },
  logLevel: 'warning',
} satisfies BuildOptions

const inputs = ['.config', 'contract', 'db', 'engine', 'src', 'package-lock.json']

/**
 * Bundles the server's entry points together with their packages to `dist/start`, so that every installation of the
 * package contains the patched PostgreSQL driver. The bundle also starts three times as fast as the separate modules of
 * a hundred packages.
 */
export async function buildPrograms() {
  await buildEmptyDatabase()
  await buildIfChanged('dist/start', inputs, async () => {
    rmSync('dist/start', { recursive: true, force: true })
    await build({
      ...bundleOptions,
      entryPoints: { main: 'src/main.ts', cli: 'src/command.ts', testing: 'src/testing.ts' },
      outdir: 'dist/start',
    })
    cpSync('engine/db/migrations', 'dist/start/engine-migrations', { recursive: true })
    cpSync('db/migrations', 'dist/start/migrations', { recursive: true })
    addEmptyDatabase('dist/start')
    return undefined
  })
}
