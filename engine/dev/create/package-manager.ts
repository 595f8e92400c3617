import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

const lockFilesOf = {
  npm: ['package-lock.json', 'npm-shrinkwrap.json'],
  pnpm: ['pnpm-lock.yaml'],
  yarn: ['yarn.lock'],
  bun: ['bun.lock', 'bun.lockb'],
}

type ManagerName = keyof typeof lockFilesOf

const isManager = (name: string): name is ManagerName => Object.hasOwn(lockFilesOf, name)

const managers = Object.keys(lockFilesOf).filter(isManager)

/** The names of the lock files of all package managers. */
export const lockFiles = Object.values(lockFilesOf).flat()

export interface PackageManager {
  name: ManagerName
  /** What names the package manager: a file, or the field of package.json. */
  reason: string
  /** The path of the lock file, if it exists. */
  lockFile: string | undefined
}

/**
 * Returns the package manager of the project in a folder: the field `packageManager` of package.json, or else the lock file,
 * in the folder or in the repository around it (a workspace). Without both: npm.
 */
export function findPackageManager(folder: string): PackageManager {
  const folders = foldersAround(folder)
  for (const path of folders) {
    const name = declaredIn(path)
    if (name) return { name, reason: 'the field packageManager', lockFile: findLock(folders, name) }
  }
  for (const path of folders)
    for (const name of managers) {
      const lockFile = findLock([path], name)
      if (lockFile) return { name, reason: lockFile, lockFile }
    }
  return { name: 'npm', reason: 'no lock file', lockFile: undefined }
}

/** The folder, and the folders around it up to the top of its repository. */
function foldersAround(folder: string): string[] {
  const around = dirname(folder)
  if (existsSync(join(folder, '.git')) || around === folder) return [folder]
  const others = foldersAround(around)
  // Without a repository, files of other projects would decide.
  return existsSync(join(others.at(-1) ?? '', '.git')) ? [folder, ...others] : [folder]
}

const findLock = (folders: readonly string[], name: ManagerName) =>
  folders
    .flatMap((folder) => lockFilesOf[name].map((file) => join(folder, file)))
    .find((path) => existsSync(path))

/** `pnpm` of `"packageManager": "pnpm@10.4.0"`. */
function declaredIn(folder: string) {
  const path = join(folder, 'package.json')
  if (!existsSync(path)) return undefined
  const { packageManager } = JSON.parse(readFileSync(path, 'utf8')) as { packageManager?: unknown }
  const [name = ''] = typeof packageManager === 'string' ? packageManager.split('@') : []
  return isManager(name) ? name : undefined
}

/** Throws if the package manager cannot run. */
export function requirePackageManager({ name, reason }: PackageManager) {
  const names = process.platform === 'win32' ? [`${name}.exe`, `${name}.cmd`] : [name]
  const { PATH = '' } = process.env
  if (!PATH.split(delimiter).some((folder) => names.some((file) => existsSync(join(folder, file)))))
    throw new Error(
      `The project uses ${name} (${reason}), but ${name} is not in PATH. Install ${name} first.`,
    )
}

/** The words of the installation. In CI, pnpm would refuse to change the lock file, and yarn too (see `install`). */
const installWords: Record<ManagerName, string[]> = {
  npm: ['install', '--no-audit', '--no-fund'],
  pnpm: ['install', '--no-frozen-lockfile'],
  yarn: ['install'],
  bun: ['install'],
}

/** Installs the packages of the project in the working folder. Returns whether this has succeeded. */
export const install = ({ name }: PackageManager) =>
  run(name, installWords[name], { YARN_ENABLE_IMMUTABLE_INSTALLS: 'false' })

/** Runs a script of package.json of the project in the working folder. Returns whether this has succeeded. */
export const runScript = ({ name }: PackageManager, script: string) => run(name, ['run', script])

function run(program: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const { status, error } = spawnSync(program, args, {
    stdio: 'inherit',
    env: { ...process.env, ...environment },
    // The programs are scripts on Windows.
    shell: process.platform === 'win32',
  })
  if (error) throw error
  return status === 0
}
