import { basename, join, relative, resolve } from 'node:path'

import { archiveVersions, packEngine, type Print, VENDOR } from './archives.ts'
import { checkFolder, writeProject } from './folder.ts'
import { toNames } from './names.ts'
import { findDevPackage, versionIn } from './packages.ts'
import { quoteWord } from './shell.ts'
import { readTemplate, readTemplateFiles } from './template.ts'
import { formatRecord, RECORD } from './upgrade/record.ts'

interface NewProject {
  folder: string
  name?: string | undefined
  /** Without the sample resource. */
  bare?: true | undefined
  print: Print
}

/**
 * Creates a project in a new folder, or beside the files of a new repository. Installs nothing. Prints each step, and
 * the next commands.
 */
export function createProject({ folder, name, bare, print }: NewProject) {
  const target = resolve(folder)
  const choices = { ...toNames(basename(target), name), bare }
  checkFolder(target)
  const devPackage = findDevPackage()
  const template = join(devPackage, 'template')
  const archives = packEngine(print)
  const kept = writeProject(
    target,
    new Map<string, string | Buffer>([
      ...readTemplate(template, { ...choices, versions: archiveVersions(archives) }),
      ...Object.values(archives).map(({ name, content }) => [`${VENDOR}/${name}`, content] as const),
      [RECORD, formatRecord({ version: versionIn(devPackage), choices, files: readTemplateFiles(template) })],
    ]),
  )
  const shown = relative(process.cwd(), target) || '.'
  print([
    `Created ${choices.name} in ${shown}.`,
    ...kept,
    'Next steps:',
    `  cd ${quoteWord(shown)}`,
    '  npm install',
    // Vite builds the page in a folder with such a path, but cannot serve the page (engine/dev/project/page-folder.ts).
    target.includes('#') ? '  npm start' : '  npm run dev',
  ])
}
