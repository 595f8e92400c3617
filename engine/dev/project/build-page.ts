import { existsSync } from 'node:fs'
import { relative, sep } from 'node:path'
import { build, mergeConfig, type Plugin } from 'vite'

import { compressFolder } from './compress.ts'
import { OUTPUT, readPagePaths, viteConfig } from './vite.ts'

// Builds the page of the project in the working folder. A program of its own, because Vite selects the code for production
// with NODE_ENV. Prints the sources of the page as JSON.

const files = new Set<string>()
await build(
  mergeConfig(viteConfig(readPagePaths()), {
    plugins: [
      {
        name: 'list-sources',
        buildEnd() {
          for (const id of this.getModuleIds()) files.add(relative('.', id.replace(/\?.*/, '')))
        },
      } satisfies Plugin,
    ],
  }),
)
await compressFolder(OUTPUT)
const isSource = (file: string) => existsSync(file) && !file.split(sep).includes('node_modules')
process.stdout.write(JSON.stringify([...files].filter(isSource)))
