import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { archiveVersions, packEngine, type Print, VENDOR } from '../archives.ts'
import { install, type PackageManager } from '../package-manager.ts'
import { findDevPackage, packageNames } from '../packages.ts'
import { readTemplateFiles } from '../template.ts'
import { type ManifestChange, mergeManifest } from './manifest.ts'
import { formatRecord, RECORD, type TemplateRecord } from './record.ts'

const MANIFEST = 'package.json'

interface Manifest {
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

const parse = (text: string) => JSON.parse(text) as Manifest

function declaredIn(text: string): Record<string, string | undefined> {
  const { dependencies, devDependencies } = parse(text)
  return { ...devDependencies, ...dependencies }
}

/**
 * Replaces the archives of the engine in the project in the working folder, merges the changes of the template into
 * package.json, and installs the packages. If a step fails, restores all files but node_modules. Returns lines that describe
 * the result. Undefined if the project has this version of the engine.
 */
export function replaceEngine(
  manager: PackageManager,
  record: TemplateRecord,
  print: Print,
): string[] | undefined {
  const current = readFileSync(MANIFEST, 'utf8')
  const declared = declaredIn(current)
  if (archivePaths(declared.tallystick).length === 0)
    throw new Error(
      `package.json has tallystick from ${declared.tallystick ?? 'nowhere'}. This command upgrades projects with the engine in ${VENDOR}/.`,
    )
  const next = readTemplateFiles(join(findDevPackage(), 'template')).get(MANIFEST) ?? ''
  const archives = packEngine(print)
  const versions = archiveVersions(archives)
  const listed = packageNames.filter((name) => declaredIn(next)[name] !== undefined)
  if (listed.every((name) => declared[name] === versions[name])) return undefined
  const { content, changed, kept } = mergeManifest({
    current,
    base: record.files.get(MANIFEST) ?? '{}',
    next,
    needed: { ...neededVersions(), ...versions },
  })
  const files = new Map<string, string | Buffer | undefined>([
    ...packageNames.flatMap((name) => archivePaths(declared[name])).map((path) => [path, undefined] as const),
    ...Object.values(archives).map((archive) => [join(VENDOR, archive.name), archive.content] as const),
    [MANIFEST, content],
    [RECORD, formatRecord({ ...record, files: new Map([...record.files, [MANIFEST, next]]) })],
  ])
  replaceFiles(files, manager.lockFile, () => {
    if (!install(manager))
      throw new Error(
        `${manager.name} could not install the packages. The files of the project are as before. Run: ${manager.name} install`,
      )
  })
  return describe(changed, kept)
}

/** The exact versions that the packages of the engine need beside them, by name. */
function neededVersions(): Record<string, string> {
  const manifests = packageNames.map((name) =>
    parse(readFileSync(join(findDevPackage(), '..', name, MANIFEST), 'utf8')),
  )
  const peers = manifests.flatMap(({ peerDependencies = {} }) => Object.entries(peerDependencies))
  return Object.fromEntries(peers.filter(([, version]) => /^\d/.test(version)))
}

/** The path of the archive of a version in the project, `file:vendor/…`. Empty for another version. */
const archivePaths = (version = '') => {
  const path = version.replace(/^file:(\.\/)?/, '')
  return path.startsWith(`${VENDOR}/`) ? [path] : []
}

/** Writes files, and removes those without content. Runs `work`. If a step fails, restores the files and the lock file. */
function replaceFiles(
  files: ReadonlyMap<string, string | Buffer | undefined>,
  lockFile: string | undefined,
  work: () => void,
) {
  const paths = [...files.keys(), ...(lockFile === undefined ? [] : [lockFile])]
  const before = new Map(paths.map((path) => [path, existsSync(path) ? readFileSync(path) : undefined]))
  try {
    files.forEach(writeOrRemove)
    work()
  } catch (error) {
    before.forEach(writeOrRemove)
    throw error
  }
}

function writeOrRemove(content: string | Buffer | undefined, path: string) {
  mkdirSync(dirname(path), { recursive: true })
  if (content === undefined) rmSync(path, { force: true })
  else writeFileSync(path, content)
}

const show = (value: unknown) => (value === undefined ? 'nothing' : JSON.stringify(value))

const describe = (changed: readonly ManifestChange[], kept: readonly ManifestChange[]) => [
  'Changed package.json:',
  ...changed.map(({ path, from, to }) => `  ${path}: ${show(from)} -> ${show(to)}`),
  ...(kept.length > 0
    ? ['Left in package.json, because the project has changed it. The template has now:']
    : []),
  ...kept.map(({ path, from, to }) => `  ${path}: ${show(to)} (yours: ${show(from)})`),
]
