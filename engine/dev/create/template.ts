import { readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

import { filesIn } from './folder.ts'
import { type Names, replaceNames } from './names.ts'
import type { PackageName } from './packages.ts'

/** Folders that tests and installations create in the template. */
const IGNORED = /^(node_modules|dist|\.data)(\/|$)/

const listTemplateFiles = (folder: string) =>
  filesIn(folder)
    .map((path) => relative(folder, path).replaceAll(sep, '/'))
    .filter((file) => !IGNORED.test(file))
    .sort()

/** The sample resource. Only the lines and files of the sample contain this word. */
const SAMPLE = /idea/i

export const isSample = (name: string) => SAMPLE.test(name)

/** Removes the sample resource from the text of a file. */
const withoutSample = (content: string) =>
  content
    .split('\n')
    .filter((line) => !SAMPLE.test(line))
    .join('\n')
    .replaceAll(/\{\n\s*\}/g, '{}')
    .replaceAll(/\n{3,}/g, '\n\n')

const emptyJournal = `${JSON.stringify({ version: '7', dialect: 'postgresql', entries: [] }, null, 2)}\n`

/** The texts of the files of the template, or of a project, by path. */
export type Texts = ReadonlyMap<string, string>

/** Returns the files of the template, with the names and the sample resource of the template. */
export const readTemplateFiles = (folder: string): Texts =>
  new Map(
    listTemplateFiles(folder).map((file) => [
      // npm would not pack a file with the name .gitignore.
      file === 'gitignore' ? '.gitignore' : file,
      readFileSync(join(folder, file), 'utf8'),
    ]),
  )

/** What a project has in place of the names of the template. */
export interface Choices extends Names {
  /** Without the sample resource. */
  bare?: true | undefined
}

/** Returns the files of the template with the names of a project. */
export function renderTemplate(template: Texts, { bare, ...names }: Choices): Map<string, string> {
  // The snapshots and the journal in `meta/` describe the migration of the sample.
  const files = [...template].filter(([file]) => !bare || !(isSample(file) || file.includes('/meta/')))
  return new Map(
    files.map(([file, text]) => {
      const content = replaceNames(file, text, names)
      return [file, bare && file !== 'package.json' ? withoutSample(content) : content]
    }),
  )
}

interface TemplateOptions extends Choices {
  /** The versions of the packages of the engine: archives in the project. */
  versions: Readonly<Record<PackageName, string>>
}

export function readTemplate(folder: string, { versions, ...choices }: TemplateOptions): Map<string, string> {
  const files = renderTemplate(readTemplateFiles(folder), choices)
  files.set('package.json', withVersions(files.get('package.json') ?? '', versions))
  if (choices.bare) files.set('db/migrations/meta/_journal.json', emptyJournal)
  return files
}

/** Replaces the versions of the packages of the engine in package.json. */
function withVersions(content: string, versions: Readonly<Record<string, string>>) {
  const manifest = JSON.parse(content) as Record<string, Record<string, string>>
  for (const field of ['dependencies', 'devDependencies'])
    for (const name of Object.keys(manifest[field] ?? {}))
      if (versions[name] !== undefined) Object.assign(manifest[field] ?? {}, { [name]: versions[name] })
  return `${JSON.stringify(manifest, null, 2)}\n`
}
