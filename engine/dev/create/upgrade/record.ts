import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'

import { toNames } from '../names.ts'
import { versionIn } from '../packages.ts'
import { type Choices, readTemplateFiles, type Texts } from '../template.ts'

/** The file in which a project keeps the template that it was made from, or last upgraded to. */
export const RECORD = 'vendor/template.json'

export interface TemplateRecord {
  version: string
  /** The names of the project, and whether it was made with `--bare`. */
  choices: Choices
  files: Texts
}

/** Upgrades never change migrations: those of the template are only the start of the project's own migrations. */
const isRecorded = (file: string) => !file.startsWith('db/migrations/')

export function formatRecord({ version, choices, files }: TemplateRecord) {
  const recorded = Object.fromEntries([...files].filter(([file]) => isRecorded(file)))
  return `${JSON.stringify({ version, ...choices, files: recorded }, null, 2)}\n`
}

/** Returns the record of the project in the working folder. */
export function readRecord(): TemplateRecord {
  if (!existsSync(RECORD)) return recordOfInstalled()
  const { version, files, ...choices } = JSON.parse(readFileSync(RECORD, 'utf8')) as Choices & {
    version: string
    files: Record<string, string>
  }
  return { version, choices, files: new Map(Object.entries(files)) }
}

/** Projects of the first releases have no record: the template is in the installed package. */
function recordOfInstalled(): TemplateRecord {
  const installed = findInstalledEngine()
  const files = readTemplateFiles(join(installed, 'template'))
  return {
    version: versionIn(installed),
    choices: readChoices(),
    files: new Map([...files].filter(([file]) => isRecorded(file))),
  }
}

function findInstalledEngine() {
  const require = createRequire(resolve('package.json'))
  try {
    const engine = dirname(require.resolve('tallystick/package.json'))
    if (existsSync(join(engine, 'template/package.json'))) return engine
  } catch {
    // The same message as for an incomplete package.
  }
  throw new Error(
    'The upgrade needs the installed package tallystick with its template. Remove node_modules, and install the packages.',
  )
}

function readChoices(): Choices {
  const read = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '')
  const { name: id } = JSON.parse(read('package.json')) as { name: string }
  const [, name = id] = /^ {2}name: '((?:\\.|[^'\\])*)'/m.exec(read('src/app.ts')) ?? []
  return {
    ...toNames(id, name.replace(/\\(.)/g, '$1')),
    id,
    ...(!existsSync('contract/ideas.ts') && { bare: true as const }),
  }
}
