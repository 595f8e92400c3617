import type { BuildOptions, Plugin } from 'esbuild'
import { readFile } from 'node:fs/promises'
import { relative, resolve, sep } from 'node:path'

// The working folder is the folder of the project.

const isPackage = (path: string) => path.split(sep).includes('node_modules')

/** A relative path with slashes. */
const pathFrom = (folder: string, path: string) => relative(folder, path).replaceAll(sep, '/')

/** Whether a file or folder is in the project. Other sources are packages of the workspace around the project. */
export const isOfProject = (path: string) => !/^\.\.(\/|$)/.test(pathFrom('.', path))

/** Marks the resolutions that the plugin itself requests, so that the plugin does not handle them again. */
const ASKED = 'asked by own-code'

/**
 * Bundles the project's own code: its files, and the packages of its workspace that are sources. Node.js loads all other
 * packages from where the project has them, because packages can have files beside their code, and native modules.
 */
const ownCode = (outdir: string): Plugin => ({
  name: 'own-code',
  setup: (build) => {
    build.onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, ...from }) => {
      if (pluginData === ASKED || from.kind === 'entry-point') return undefined
      const find = (folder: string) => build.resolve(path, { ...from, resolveDir: folder, pluginData: ASKED })
      const found = await find(from.resolveDir)
      if (found.external) return { path, external: true }
      if (found.errors.length > 0 || !isPackage(found.path)) return undefined
      // A package of the workspace can have other packages, or other versions, than the project.
      const isReachable = isOfProject(from.resolveDir) || (await find(process.cwd())).path === found.path
      return { path: isReachable ? path : pathFrom(outdir, found.path), external: true }
    })
  },
})

/** What `import.meta` has of a file, as constants. In a bundle, `import.meta` is that of the bundle. */
const PLACES = {
  'import.meta.url': 'ownUrlOfModule',
  'import.meta.filename': 'ownFileOfModule',
  'import.meta.dirname': 'ownFolderOfModule',
}

const placesOf = (path: string) =>
  `import { dirname as dirnameOfModule } from 'node:path'; import { fileURLToPath as toFileOfModule } from 'node:url'; ` +
  `const ownUrlOfModule = import.meta.resolve(${JSON.stringify(path)}), ` +
  `ownFileOfModule = toFileOfModule(ownUrlOfModule), ownFolderOfModule = dirnameOfModule(ownFileOfModule);`

/** Keeps the place of each file in `import.meta`: at its path below `root`, seen from the folder of the bundle. */
const ownPlaces = (outdir: string, root: string): Plugin => ({
  name: 'own-places',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.[cm]?tsx?$|\.m?js$/ }, async ({ path, namespace }) => {
      if (namespace !== 'file' || isPackage(path)) return undefined
      const code = await readFile(path, 'utf8')
      if (!Object.keys(PLACES).some((place) => code.includes(place))) return undefined
      const place = isOfProject(path) ? `${root}/${pathFrom('.', path)}` : pathFrom(outdir, path)
      return { contents: placesOf(place) + code, loader: path.endsWith('x') ? 'tsx' : 'ts' }
    })
  },
})

/**
 * Returns the options for the bundle of a project in `outdir`. `root` is the folder, seen from `outdir`, in which the code
 * finds the files beside its sources.
 */
export const bundleOptions = (outdir: string, root: string) =>
  ({
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outdir,
    define: PLACES,
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
    plugins: [ownCode(resolve(outdir)), ownPlaces(resolve(outdir), root)],
  }) satisfies BuildOptions
