import react from '@vitejs/plugin-react'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig, type Plugin } from 'vite'

import { paths } from '../app/paths.ts'

const outDir = join(import.meta.dirname, '../dist/pages/app')

/** Writes a copy of `index.html` for each path of the page: `tasks.html` for `/tasks`. */
const copyIndexToPaths: Plugin = {
  name: 'copy-index-to-paths',
  apply: 'build',
  writeBundle: () => {
    for (const path of paths)
      if (path !== '/') cpSync(join(outDir, 'index.html'), join(outDir, `${path}.html`))
  },
}

export default defineConfig({
  root: join(import.meta.dirname, '../app'),
  plugins: [react(), copyIndexToPaths],
  build: {
    outDir,
    emptyOutDir: true,
    target: 'es2022',
    // The Content-Security-Policy of the page does not allow inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  logLevel: 'warn',
})
