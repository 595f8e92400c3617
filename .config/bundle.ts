import type { BuildOptions } from 'esbuild'

/** Options of esbuild for the server's entry points, for the build and for tests that start processes. */
export const bundleOptions = {
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: true,
  // These packages read files next to their own code, so they cannot be part of the bundle.
  external: ['@electric-sql/pglite', 'fs-native-extensions', 'open'],
  // CommonJS packages in the bundle call `require`, which ES modules do not define.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
  logLevel: 'warning',
} satisfies BuildOptions
