import type { BuildOptions } from 'esbuild'

/** These packages read files next to their own code, so they cannot be part of the bundle. */
export const external = ['@electric-sql/pglite', 'fs-native-extensions', 'open']

/** Options for the bundle of an application with its packages. */
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
  // Only the commands that build need these packages.
  external: [...external, 'esbuild', 'vite'],
  // CommonJS packages in the bundle call `require`, which ES modules do not define.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
  },
  logLevel: 'warning',
} satisfies BuildOptions
