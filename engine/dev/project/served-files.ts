import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { normalizePath, searchForWorkspaceRoot } from 'vite'

/** Folders of a project with modules for the page. */
const FOLDERS = ['app', 'contract']

/** The default of Vite, which an own list replaces. */
const SECRET_FILES = [
  '.env',
  '.env.*',
  '*.{crt,pem,key,p12,pfx,cer,der}',
  '.npmrc',
  '.yarnrc.yml',
  '**/.git/**',
]

/** Resolves symbolic links. Of a path that does not exist, resolves the links of the folders that exist. */
function toRealPath(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    const folder = dirname(resolve(path))
    return folder === resolve(path) ? folder : join(toRealPath(folder), basename(path))
  }
}

/** The folders with packages: of the project, and of the workspace around the project. */
function findModules(folder = process.cwd(), workspace = searchForWorkspaceRoot(folder)): string[] {
  const modules = join(folder, 'node_modules')
  const isLast = folder === resolve(workspace) || folder === dirname(folder)
  return [modules, ...(isLast ? [] : findModules(dirname(folder), workspace))].filter((path) =>
    existsSync(path),
  )
}

/** The folders of the dependencies whose links lead out of `node_modules`, as in a workspace. */
function findLinkedPackages(modules: readonly string[]) {
  const { dependencies = {}, devDependencies = {} } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    dependencies?: Record<string, string>
    devDependencies?: Record<string, string>
  }
  return Object.keys({ ...dependencies, ...devDependencies })
    .flatMap((name) => modules.map((folder) => join(folder, name)).filter((path) => existsSync(path)))
    .map(toRealPath)
    .filter((path) => !path.split(sep).includes('node_modules'))
}

/** A pattern that matches exactly this path. */
const toPattern = (path: string) => normalizePath(path).replace(/[$^*+?()[\]{}|!@\\]/g, '\\$&')

/** Patterns for files and folders whose names begin with a dot, except in `node_modules`: pnpm has `.pnpm` there. */
const hiddenIn = (folder: string) =>
  [toPattern(folder), `${toPattern(folder)}/!(node_modules)/**`].flatMap((path) => [
    `${path}/.*`,
    `${path}/.*/**`,
  ])

/**
 * The files that Vite may serve, `fs`: modules and packages of the page. Modules that the page imports from other folders
 * are added by Vite. `isPrivate` tells whether a path leads into DATA_DIR, also through a symbolic link: Vite does not
 * resolve the links of files that it serves unchanged.
 */
export function createServedFiles(dataDir: string) {
  const modules = findModules()
  const sources = [...FOLDERS.map((folder) => resolve(folder)), ...findLinkedPackages(modules)].map(
    toRealPath,
  )
  const isPrivate = (path: string) => `${toRealPath(path)}${sep}`.startsWith(`${toRealPath(dataDir)}${sep}`)
  const covered = sources.find(isPrivate)
  if (covered !== undefined)
    throw new Error(`DATA_DIR: ${dataDir} contains ${covered}, which the page needs. Use another folder.`)
  return {
    isPrivate,
    fs: {
      allow: [...sources, ...modules, ...modules.map(toRealPath)],
      deny: [
        ...SECRET_FILES,
        ...[resolve(dataDir), toRealPath(dataDir)].map((folder) => `${toPattern(folder)}/**`),
        ...sources.flatMap(hiddenIn),
      ],
    },
  }
}
