import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { listEngineTables, listTablesIn } from 'tallystick/internal/db/migration-files'
import { type IndexChange, planIndexes } from './indexes.ts'
import { writeMigration } from './migration.ts'
import { findEngine } from './packages.ts'
import { identifiersIn, renameResource, type ResourceNames, toResourceNames } from './resource-names.ts'

/** The files of a resource, with the name of the resource as `*`. */
const FILES = ['contract/*.ts', 'db/*.ts', 'src/*.ts', 'test/*.test.ts']
const PAGE_FILES = ['app/texts/*.ts', 'app/views/*.tsx']
const MIGRATIONS = 'db/migrations'

/** The names of the engine's resources, the names in the indexes, and words of TypeScript that the template does not use. */
const RESERVED = new Set(
  'contract engine exportParts migrationsFolder status account sessions session live apps app tokens token audit break case catch class continue debugger delete do else enum false finally for function if in instanceof new null super switch this throw true try typeof var void while with yield let static implements interface package private protected public eval arguments undefined'.split(
    ' ',
  ),
)

interface NewResource {
  name: string
  /** The name of one item, if the name is no regular plural. */
  one?: string | undefined
  /** Whether the page gets a view of the resource. */
  hasPage: boolean
}

interface Plan {
  names: ResourceNames
  created: ReadonlyMap<string, string>
  indexes: readonly IndexChange[]
}

/** Plans a new resource of the project in a folder. Changes nothing. Throws if the name is in use. */
export function planResource(folder: string, template: string, { name, one, hasPage }: NewResource): Plan {
  const names = toResourceNames(name, one)
  /** The text is empty, and so has an unknown form, if the file does not exist. */
  const read = (file: string) => {
    const path = join(folder, file)
    return existsSync(path) ? readFileSync(path, 'utf8') : ''
  }
  const sample = [...FILES, ...(hasPage ? PAGE_FILES : [])].map((file) => ({
    file: file.replace('*', names.kebab),
    code: readFileSync(join(template, file.replace('*', 'ideas')), 'utf8'),
  }))
  const used = new Set(
    sample.flatMap(({ code }) => identifiersIn(code)).filter((word) => !/idea/i.test(word)),
  )
  for (const word of [names.camel, names.camelOne, names.pascal, names.pascalOne])
    if (RESERVED.has(word) || used.has(word))
      throw new Error(
        `${word} has another meaning in the code of a resource. Choose another name, or use --singular.`,
      )
  const existing = sample.find(({ file }) => existsSync(join(folder, file)))
  if (existing) throw new Error(`${existing.file} exists already.`)
  if ([...listEngineTables(), ...listTablesIn(join(folder, MIGRATIONS))].includes(names.snake))
    throw new Error(`The database has a table ${names.snake} already.`)
  const isWindows = read('src/app.ts').includes('\r\n')
  return {
    names,
    created: new Map(
      sample.map(({ file, code }) => {
        const renamed = renameResource(code, names, file.startsWith('app/texts/'))
        return [file, isWindows ? renamed.replaceAll('\n', '\r\n') : renamed]
      }),
    ),
    indexes: planIndexes(names, hasPage, read),
  }
}

/**
 * Adds a resource to the project in the working folder: contract, table with queries, procedures, test, the lines in the
 * indexes, and the migration. If a step fails, restores all files. Returns lines that describe the result.
 */
export async function addResource(
  name: string,
  { singular, page }: { singular?: string; page: boolean },
): Promise<string[]> {
  const { names, created, indexes } = planResource('.', join(findEngine(), 'template'), {
    name,
    one: singular,
    hasPage: page && existsSync('app/main.tsx'),
  })
  const changed = indexes.filter(({ content }) => content !== undefined)
  const before = new Map(changed.map(({ file }) => file).map((file) => [file, readFileSync(file)] as const))
  const written: string[] = []
  try {
    for (const [file, content] of created) {
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, content, { flag: 'wx' })
      written.push(file)
    }
    for (const { file, content = '' } of changed) writeFileSync(file, content)
    const { tag, files } = await writeMigration({ name: `add_${names.snake}` })
    if (tag === undefined) throw new Error(`drizzle-kit does not find the table ${names.snake} in db/.`)
    return describe([...created.keys(), ...files.filter((file) => !file.endsWith('_journal.json'))], indexes)
  } catch (error) {
    for (const file of written) rmSync(file)
    for (const [file, content] of before) writeFileSync(file, content)
    throw error
  }
}

const describe = (files: readonly string[], indexes: readonly IndexChange[]) => [
  ...files.map((file) => `Created ${file}`),
  ...indexes.flatMap(({ file, content, lines }) =>
    content === undefined
      ? [`${file} has an unknown form. Add these lines:`, ...lines.map((line) => `  ${line}`)]
      : [`Changed ${file}`],
  ),
  'The service applies the migration when it starts. Check the new files: npm run check && npm test',
]
