import { buildPages } from '../../.config/pages.ts'
import { buildPrograms } from '../../.config/programs.ts'

/** Builds the programs and the pages for tests that start processes or serve pages, unless they are up to date. */
export async function setup() {
  await Promise.all([buildPrograms(), buildPages()])
}
