import { buildPackages } from '../../.config/packages.ts'
import { buildDeclarations, runTool } from '../fixtures/installation.ts'

/** Builds the packages for new projects, unless they are up to date. */
export const setup = () =>
  buildPackages(async () => {
    await buildDeclarations()
    await runTool('tsc', '-p', '.config/tsconfig.page.json')
  })
