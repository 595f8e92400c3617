import { build } from 'vite'

import { compressFolder } from './compress.ts'
import { importPaths, OUTPUT, viteConfig } from './vite.ts'

// Builds the page of the project in the working folder. A program of its own, because Vite selects the code for production
// with NODE_ENV.

await build(viteConfig(await importPaths()))
await compressFolder(OUTPUT)
