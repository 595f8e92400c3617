import { buildPages } from './pages.ts'
import { buildPrograms } from './programs.ts'

await Promise.all([buildPrograms(), buildPages()])
