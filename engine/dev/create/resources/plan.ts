import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { listEngineTables, readMigrations } from 'tallystick/internal/db/migration-files'
import { freeNames } from './aliases.ts'
import { identifiersIn } from './identifiers.ts'
import { type IndexChange, planIndexes } from './indexes.ts'
import { chooseNames, identifiersOfSample, renameResource, type ResourceNames } from './resource-names.ts'
import { parse } from './syntax.ts'

/** The files of a resource, with the name of the resource as `*`. */
const FILES = ['contract/*.ts', 'db/*.ts', 'src/*.ts', 'test/*.test.ts', 'test/cases/*.ts']
const PAGE_FILES = ['app/views/*.tsx']
export const MIGRATIONS = 'db/migrations'

/** The names of the engine's resources in a contract. */
const ENGINE_RESOURCES = ['status', 'account', 'sessions', 'live', 'apps', 'tokens', 'audit']

/** The names of the engine's schemas in the OpenAPI document. */
const ENGINE_SCHEMAS =
  'Account AccountExport App AppList AuditEntry AuditList CreateToken CreatedToken DeleteAccount LiveUpdate OtherSessionsRevoked RevokeApp RevokeSession SessionInfo SessionList Status Success'.split(
    ' ',
  )

interface NewResource {
  name: string
  /** The name of one item, if the name is no regular plural. */
  one?: string | undefined
  /** Whether the page gets a view of the resource. */
  hasPage: boolean
}

export interface Plan {
  names: ResourceNames
  created: ReadonlyMap<string, string>
  /** The statements that create the table. */
  table: string
  indexes: readonly IndexChange[]
}

/** Plans a new resource of the project in a folder. Changes nothing. Throws if the name is in use. */
export function planResource(folder: string, template: string, { name, one, hasPage }: NewResource): Plan {
  const read = (file: string) => readText(join(folder, file))
  const sample = readSample(template, hasPage)
  const schemas = new Set([...ENGINE_SCHEMAS, ...schemasIn(join(folder, 'contract'))])
  const findProblem = (names: ResourceNames) =>
    findTaken(names, folder, sample) ?? findTakenSchema(names, schemas) ?? findBlocked(names, sample)
  const names = chooseNames(name, one, findProblem)
  const isWindows = read('src/app.ts').includes('\r\n')
  const files = [...filesOf(names, sample)]
  return {
    names,
    created: new Map(files.map(([file, code]) => [file, isWindows ? code.replaceAll('\n', '\r\n') : code])),
    table: tableOf(template, names),
    indexes: planIndexes(names, hasPage, read),
  }
}

/** Reads the files of the sample resource of the template. */
export const readSample = (template: string, hasPage: boolean): SampleFile[] =>
  [...FILES, ...(hasPage ? PAGE_FILES : [])].map((file) => ({
    file: file.replace('*', 'ideas'),
    code: readFileSync(join(template, file.replace('*', 'ideas')), 'utf8'),
  }))

/** Returns the files of a resource. */
export const filesOf = (names: ResourceNames, sample: readonly SampleFile[]) =>
  new Map(
    sample.map(({ file, code }) => {
      const free = freeNames(file, code, identifiersOfSample(code, names))
      return [file.replace('ideas', names.kebab), renameResource(free.code, names)]
    }),
  )

/** Returns the statements that create the table of a resource. */
function tableOf(template: string, { snake }: ResourceNames) {
  const folder = join(template, MIGRATIONS)
  const file = readdirSync(folder).find((name) => name.endsWith('ideas.sql')) ?? ''
  const statements = readFileSync(join(folder, file), 'utf8').replaceAll('ideas', snake)
  return statements.replaceAll('--> statement-breakpoint', '').trim()
}

/** Returns the text of a file. The text is empty, and so has an unknown form, if the file does not exist. */
export const readText = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '')

export interface SampleFile {
  file: string
  code: string
}

/** Says what has the name of the resource already. */
function findTaken({ camel, kebab, snake }: ResourceNames, folder: string, sample: readonly SampleFile[]) {
  const files = sample.map(({ file }) => file.replace('ideas', kebab))
  const existing = files.find((file) => existsSync(join(folder, file)))
  if (existing) return `${existing} exists already.`
  if (ENGINE_RESOURCES.includes(camel)) return `${camel} is a resource of the engine. Choose another name.`
  if (listEngineTables().includes(snake)) return `${snake} is a table of the engine. Choose another name.`
  if (tablesIn(join(folder, MIGRATIONS)).has(snake)) return `The database has a table ${snake} already.`
  for (const file of ['contract/index.ts', 'src/app.ts']) {
    const syntax = parse(file, readText(join(folder, file)))
    if (syntax && identifiersIn(syntax).some(({ name }) => name === camel))
      return `${file} has another ${camel} already. Choose another name.`
  }
  return undefined
}

function findTakenSchema({ pascalOne }: ResourceNames, schemas: ReadonlySet<string>) {
  const taken = [pascalOne, `${pascalOne}List`, `Create${pascalOne}`].find((id) => schemas.has(id))
  return taken && `The API has a schema ${taken} already. Name one item: --singular <name>`
}

/** Finds a name that the code of a resource needs for something else, and that has no declaration to rename. */
function findBlocked(names: ResourceNames, sample: readonly SampleFile[]) {
  const blocked = sample.flatMap(
    ({ file, code }) => freeNames(file, code, identifiersOfSample(code, names)).blocked,
  )
  return blocked[0] && `${blocked[0]} has another meaning in the code of a resource. Choose another name.`
}

/** Returns the names of the schemas in the contract of a project. */
const schemasIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) =>
      Array.from(
        readFileSync(join(folder, file), 'utf8').matchAll(/\bid: ['"](\w+)['"]/g),
        ([, id = '']) => id,
      ),
    )

/** Returns the names of the tables that the migrations create and do not drop. */
function tablesIn(migrationsFolder: string) {
  const tables = new Set<string>()
  for (const { statements } of readMigrations({ prefix: '', migrationsFolder, migrationsTable: '' }))
    for (const { text } of statements) {
      const [, action = '', table = ''] =
        /^\s*(create|drop) table (?:if (?:not )?exists )?"(\w+)"/i.exec(text) ?? []
      if (action.toLowerCase() === 'create') tables.add(table)
      else tables.delete(table)
    }
  return tables
}
