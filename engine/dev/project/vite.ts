import { cpSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { InlineConfig, Plugin } from 'vite'

import { readPaths } from './page-paths.ts'

/** The folder of the page in a project. */
const FOLDER = 'app'

/** The folder of the built page. engine/http/endpoints/files.ts serves the result. */
export const OUTPUT = 'dist/pages/app'

export const readPagePaths = () => readPaths(join(FOLDER, 'views.ts'))

/** Writes a copy of `index.html` for each path of the page: `devices.html` for `/devices`. */
const copyIndexToPaths = (paths: readonly string[]): Plugin => ({
  name: 'copy-index-to-paths',
  apply: 'build',
  writeBundle: () => {
    for (const path of paths)
      if (path !== '/') cpSync(join(OUTPUT, 'index.html'), join(OUTPUT, `${path}.html`))
  },
})

/** The configuration of Vite for the page of a project. The project can add app/vite.config.ts. */
export const viteConfig = (paths: readonly string[]): InlineConfig => ({
  root: FOLDER,
  plugins: [copyIndexToPaths(paths)],
  build: {
    outDir: resolve(OUTPUT),
    emptyOutDir: true, // not the default, because the folder is outside of `root`
    target: 'es2022',
    assetsInlineLimit: 0, // because the Content-Security-Policy of the page allows no `data:` URLs
    modulePreload: { polyfill: false }, // because all supported browsers have modulepreload
    // One file for the first view. By default, code that lazy parts also use gets files of its own, which compress less.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'first-view', tags: ['$initial'] }] } } },
  },
  logLevel: 'warn',
})
