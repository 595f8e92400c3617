import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

import { type Names, replaceNames } from './names.ts'

/** The packages of the engine, which lie beside each other: in the repository after a build, and in an installation. */
const PACKAGES = ['tallystick', 'tallystick-contract', 'tallystick-dev'] as const

export type PackageName = (typeof PACKAGES)[number]

/**
 * The folder with the packages as they are published, seen from the bundle in the package `tallystick-dev`, from the bundle
 * of the service in dist/start, and from this file.
 */
const findPackages = () =>
  ['../..', '../packages', '../../../dist/packages']
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(join(path, 'tallystick-dev/template/package.json')))

/** Returns the folders of the packages that a project needs. */
export function packageFolders(): Record<PackageName, string> {
  const folder = findPackages()
  if (folder === undefined)
    throw new Error('The packages for a project are missing. In a clone of Tallystick, run: npm run build')
  return Object.fromEntries(PACKAGES.map((name) => [name, join(folder, name)])) as Record<PackageName, string>
}

/** Folders that tests and installations create in the template. */
const IGNORED = /^(node_modules|dist|\.data)(\/|$)/

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).replaceAll(sep, '/'))
    .filter((file) => !IGNORED.test(file))
    .sort()

/** The sample resource. Only the lines and files of the sample contain this word. */
const SAMPLE = /idea/i

/** Removes the sample resource from the text of a file. */
const withoutSample = (content: string) =>
  content
    .replace('[ideasTopic]', '[]')
    .replace(", 'ideas'", '')
    .split('\n')
    .filter((line) => !SAMPLE.test(line))
    .join('\n')
    .replaceAll(/\{\n\s*\}/g, '{}')
    .replaceAll(/\n{3,}/g, '\n\n')

const emptyJournal = `${JSON.stringify({ version: '7', dialect: 'postgresql', entries: [] }, null, 2)}\n`

interface TemplateOptions extends Names {
  bare?: true | undefined
  /** The versions of the packages of the engine: archives in the project. */
  versions: Readonly<Record<PackageName, string>>
}

/** Returns the files of a project, from the template. */
export function readTemplate(
  folder: string,
  { bare, versions, ...names }: TemplateOptions,
): Map<string, string> {
  const files = filesIn(folder).filter((file) => !bare || !(SAMPLE.test(file) || file.includes('/meta/')))
  const read = (file: string) => {
    const content = replaceNames(file, readFileSync(join(folder, file), 'utf8'), names)
    return file === 'package.json' ? withVersions(content, versions) : bare ? withoutSample(content) : content
  }
  return new Map([
    // npm would not pack a file with the name .gitignore.
    ...files.map((file) => [file === 'gitignore' ? '.gitignore' : file, read(file)] as const),
    ...(bare ? [['db/migrations/meta/_journal.json', emptyJournal] as const] : []),
  ])
}

function withVersions(content: string, versions: TemplateOptions['versions']) {
  const manifest = JSON.parse(content) as Record<string, Record<string, string>>
  for (const field of ['dependencies', 'devDependencies'])
    for (const name of PACKAGES)
      if (manifest[field]?.[name] !== undefined) manifest[field][name] = versions[name]
  return `${JSON.stringify(manifest, null, 2)}\n`
}
