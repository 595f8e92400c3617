import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Plugin } from 'esbuild'

import { filesIn } from '../create/folder.ts'

/**
 * The flag keeps objects of requests out of the old generation. Source maps work only for modules that load later, so the
 * application is imported afterwards, and after the files of the environment, which its modules can read.
 */
const service = (options: string) => `
    import { setFlagsFromString } from 'node:v8'
    setFlagsFromString('--no-allocation-site-pretenuring')
    process.setSourceMapsEnabled(true)
    const { loadEnvironmentFiles, serve } = await import('tallystick/serve')
    loadEnvironmentFiles()
    const { app } = await import('./src/app.ts')
    await serve(app, process.env, ${options})`

/**
 * The programs of a project, which import the application by its fixed paths: the service, the service during
 * development, and the command line.
 */
const programs: Record<string, string> = {
  main: service('{}'),
  dev: service('{ isDevelopment: true }'),
  cli: `
    import { runCommand } from 'tallystick/cli'
    import { contract } from './contract/index.ts'
    import { name } from './package.json'
    await runCommand({ name, contract, loadApp: async () => (await import('./src/app.ts')).app, isProject: true })`,
}

const PREFIX = 'program:'

const MIGRATIONS = resolve('db/migrations')
const ENVIRONMENT_FILES = ['.env', '.env.local'].map((file) => resolve(file))

/** Provides the programs as entry points of a bundle. The working folder is the folder of the project. */
export const programsPlugin: Plugin = {
  name: 'programs',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^${PREFIX}`) }, ({ path }) => ({
      path: path.slice(PREFIX.length),
      namespace: 'program',
    }))
    onLoad({ filter: /.*/, namespace: 'program' }, ({ path }) => ({
      contents: programs[path] ?? '',
      loader: 'ts',
      resolveDir: process.cwd(),
      // A change of a migration or of a file with variables starts the service again in development.
      watchDirs: [MIGRATIONS],
      watchFiles: [...(existsSync(MIGRATIONS) ? filesIn(MIGRATIONS) : []), ...ENVIRONMENT_FILES],
    }))
  },
}

/** Entry points of a bundle: the name of the file, and the program. */
export const entryPoints = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, PREFIX + name]))
