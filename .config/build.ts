import { buildPackages } from './packages.ts'
import { buildPages } from './pages.ts'
import { buildPrograms } from './programs.ts'

await Promise.all([buildPrograms(), buildPages()])
await buildPackages()
