import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { listEngineTables, readMigrations } from 'tallystick/internal/db/migrate/migration-files'
import { identifiersIn } from './identifiers.ts'
import { type IndexChange, planIndexes } from './indexes.ts'
import { filesOf, readSample, statementsOf, tablesOf, viewsOf } from './kinds.ts'
import type { Kind } from './parents.ts'
import { chooseNames, type ResourceNames } from './resource-names.ts'
import { parse } from './syntax.ts'

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
  /** By default, rows with an owner. */
  kind?: Kind
  /** Whether the page gets a view of the resource. */
  hasPage: boolean
}

export interface Plan {
  names: ResourceNames
  created: ReadonlyMap<string, string>
  /** The statements that create the tables. */
  table: string
  indexes: readonly IndexChange[]
}

/** Plans a new resource of the project in a folder. Changes nothing. Throws if the name is in use. */
export function planResource(
  folder: string,
  template: string,
  { name, one, kind = { type: 'own' }, hasPage }: NewResource,
): Plan {
  const read = (file: string) => readText(join(folder, file))
  const sample = readSample(template, kind, hasPage)
  const schemas = new Set([...ENGINE_SCHEMAS, ...schemasIn(join(folder, 'contract'))])
  const findProblem = (names: ResourceNames) => {
    const { files, blocked } = filesOf(kind, names, sample)
    return (
      findTakenInput(names, kind) ??
      findTaken(names, folder, { files: [...files.keys()], tables: tablesOf(kind, names) }) ??
      findTakenSchema(names, schemas) ??
      (blocked[0] && `${blocked[0]} has another meaning in the code of a resource. Choose another name.`)
    )
  }
  const names = chooseNames(name, one, findProblem)
  const isWindows = read('src/app.ts').includes('\r\n')
  const { files } = filesOf(kind, names, sample)
  return {
    names,
    created: new Map(
      [...files].map(([file, code]) => [file, isWindows ? code.replaceAll('\n', '\r\n') : code]),
    ),
    table: statementsOf(template, kind, names),
    indexes: planIndexes(names, hasPage ? viewsOf(kind) : undefined, read),
  }
}

/** Returns the text of a file. The text is empty, and so has an unknown form, if the file does not exist. */
export const readText = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '')

/** Says what has a name of the resource already. */
function findTaken(
  { camel }: ResourceNames,
  folder: string,
  { files, tables }: { files: readonly string[]; tables: readonly string[] },
) {
  const existing = files.find((file) => existsSync(join(folder, file)))
  if (existing) return `${existing} exists already.`
  if (ENGINE_RESOURCES.includes(camel)) return `${camel} is a resource of the engine. Choose another name.`
  const existingTables = tablesIn(join(folder, MIGRATIONS))
  for (const table of tables) {
    if (listEngineTables().includes(table)) return `${table} is a table of the engine. Choose another name.`
    if (existingTables.has(table)) return `The database has a table ${table} already.`
  }
  for (const file of ['contract/index.ts', 'src/app.ts']) {
    const syntax = parse(file, readText(join(folder, file)))
    if (syntax && identifiersIn(syntax).some(({ name }) => name === camel))
      return `${file} has another ${camel} already. Choose another name.`
  }
  return undefined
}

/** The topic of a resource within a parent has an input, beside the field `topics` of `live.watch`. */
const findTakenInput = ({ camel }: ResourceNames, { type }: Kind) =>
  type === 'within' && camel === 'topics'
    ? 'topics is a field of live.watch. Choose another name for a resource within a parent.'
    : undefined

function findTakenSchema({ pascalOne }: ResourceNames, schemas: ReadonlySet<string>) {
  const taken = [pascalOne, `${pascalOne}List`, `Create${pascalOne}`].find((id) => schemas.has(id))
  return taken && `The API has a schema ${taken} already. Name one item: --singular <name>`
}

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
