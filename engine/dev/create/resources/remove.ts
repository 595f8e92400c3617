import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { contentsOf, describeIndexes, diffOf } from './add.ts'
import { type IndexChange, planIndexes } from './indexes.ts'
import { describeRisks } from '../migration/migration-command.ts'
import { writeMigration } from '../migration/migration.ts'
import { findDevPackage } from '../packages.ts'
import { filesOf, formerViewsOf, readSample, tablesOf, viewsOf } from './kinds.ts'
import { kindOf } from './parents.ts'
import { MIGRATIONS, readText } from './plan.ts'
import { removeFrom } from './removals.ts'
import { type ResourceNames, singularsOf, toResourceNames } from './resource-names.ts'
import { lastSnapshotIn, readSnapshot } from '../migration/snapshots.ts'
import { importsOf, parse } from './syntax.ts'
import { withFiles } from './write.ts'

interface Removal {
  names: ResourceNames
  /** The files of the resource that exist. */
  files: string[]
  /** The files of the resource that differ from what `add` writes. */
  changed: string[]
  /** The other files that import a file of the resource. */
  users: string[]
  indexes: IndexChange[]
  /** The tables of the resource that the migrations have. A table precedes the tables that it has a foreign key to. */
  tables: string[]
}

/**
 * Plans the removal of a resource of the project in a folder. Changes nothing. Throws if there is no such resource, or if
 * another table has a foreign key to its table.
 */
export function planRemoval(folder: string, template: string, name: string, one?: string): Removal {
  const kind = kindOf(folder, name)
  const sample = readSample(template, kind, true) // also the views: the files that do not exist are ignored
  const read = (file: string) => readText(join(folder, file))
  const isChanged = (file: string, code: string) =>
    existsSync(join(folder, file)) && !isSame(read(file), code)
  // The same names as in `add`: those with which most files are as `add` writes them.
  const [best] = (one === undefined ? singularsOf(name) : [one])
    .map((each) => toResourceNames(name, each))
    .map((names) => ({ names, written: filesOf(kind, names, sample).files }))
    .map((each) => ({
      ...each,
      changed: [...each.written].filter((file) => isChanged(...file)).map(([file]) => file),
    }))
    .sort((a, b) => a.changed.length - b.changed.length)
  if (!best) throw new Error(`${name} is no name of a resource.`)
  const { names } = best
  const exists = (file: string) => existsSync(join(folder, file))
  const former = formerViewsOf(names, exists)
  const files = [...[...best.written.keys()].filter(exists), ...former]
  // What `add` wrote into the files of earlier versions is not known.
  const changed = [...best.changed, ...former]
  if (files.length === 0)
    throw new Error(`There is no resource ${name}: ${[...best.written.keys()].join(', ')} do not exist.`)
  const indexes = planIndexes(
    names,
    existsSync(join(folder, 'app/views.ts')) ? viewsOf(kind) : undefined,
    read,
    removeFrom,
  ).filter(({ file, content }) => content !== read(file))
  const lists = indexes.map(({ file }) => file)
  return {
    names,
    files,
    changed,
    users: listUsers(folder, files).filter((file) => !lists.includes(file)),
    indexes,
    tables: findTables(join(folder, MIGRATIONS), tablesOf(kind, names)),
  }
}

/** Returns whether two files have the same code, in any format. */
const isSame = (a: string, b: string) => withoutFormat(a) === withoutFormat(b)

const withoutFormat = (code: string) => code.replaceAll('"', "'").replaceAll(/[\s;()]|,(?=\s*[)\]}])/g, '')

const SOURCES = ['app', 'contract', 'db', 'src', 'test']

/** Lists the other files that import one of the files. */
function listUsers(folder: string, files: readonly string[]) {
  const sources = SOURCES.filter((each) => existsSync(join(folder, each))).flatMap((each) =>
    readdirSync(join(folder, each), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => join(each, file).replaceAll('\\', '/')),
  )
  return sources
    .filter((file) => !files.includes(file))
    .filter((file) => {
      const syntax = parse(file, readFileSync(join(folder, file), 'utf8'))
      const imported = syntax ? importsOf(syntax).map(({ source }) => source.value) : []
      return imported.some((from) => from.startsWith('.') && files.includes(join(dirname(file), from)))
    })
}

/** Returns the tables of a resource that exist. Throws if another table has a foreign key to one of them. */
function findTables(migrations: string, own: readonly string[]) {
  const file = lastSnapshotIn(migrations)
  const tables = file === undefined ? [] : Object.values(readSnapshot(file).tables)
  const others = tables
    .filter(({ name }) => !own.includes(name))
    .filter(({ foreignKeys }) => Object.values(foreignKeys).some(({ tableTo }) => own.includes(tableTo)))
  if (others.length > 0)
    throw new Error(
      `The rows of ${others.map(({ name }) => name).join(', ')} have a foreign key to ${own.at(-1)}. Remove the foreign key, or the other table, first.`,
    )
  return own.filter((table) => tables.some(({ name }) => name === table))
}

interface RemoveOptions {
  /** The name of one item, as for `add`. */
  singular?: string
  /** Whether files that were changed are removed, too. */
  force?: true
  /** Whether the command only prints the plan. */
  dryRun?: true
}

/**
 * Undoes `addResource` in the project in the working folder: removes the files, the lines in the indexes, and the table by
 * a new migration. Existing migrations stay, because a database may have applied them. If a step fails, restores all files.
 * Returns lines that describe the result.
 */
export async function removeResource(
  name: string,
  { singular, force, dryRun }: RemoveOptions,
): Promise<string[]> {
  const removal = planRemoval('.', join(findDevPackage(), 'template'), name, singular)
  const { names, files, indexes, tables } = removal
  if (dryRun) return describePlan(removal)
  const problems = listProblems(removal)
  if (problems.length > 0 && !force)
    throw new Error([...problems, 'To remove the resource anyway: --force'].join('\n'))
  const removed = files.map((file) => [file, undefined] as const)
  const migration = await withFiles(new Map([...removed, ...contentsOf(indexes)]), async () =>
    tables.length > 0 ? writeMigration({ name: `remove_${names.snake}`, drop: tables }) : undefined,
  )
  const written = migration?.files.filter((file) => !file.endsWith('_journal.json')) ?? []
  const sql = written.find((file) => file.endsWith('.sql'))
  return [
    ...files.map((file) => `Removed ${file}`),
    ...written.map((file) => `Created ${file}`),
    ...describeIndexes(indexes, 'Remove'),
    ...(sql === undefined ? [] : [...describeRisks(readText(sql)), describeLoss(tables)]),
  ]
}

const describeLoss = (tables: readonly string[]) => {
  const [named, its] =
    tables.length > 1 ? [`tables ${tables.join(', ')}`, 'their'] : [`table ${tables.join()}`, 'its']
  return `The service drops the ${named} with ${its} rows when it starts. If no database has applied the migrations of the ${named.split(' ', 1).join()}, you can delete these migrations and their snapshots instead.`
}

const listProblems = ({ names, changed, users }: Removal) => [
  ...(changed.length > 0
    ? [
        `Changed since \`add\`: ${changed.join(', ')}`,
        `If one item has another name than ${names.wordsOne}: --singular <name>`,
      ]
    : []),
  ...(users.length > 0 ? [`Other files import files of ${names.camel}: ${users.join(', ')}`] : []),
]

function describePlan(removal: Removal) {
  const { files, indexes, tables } = removal
  return [
    ...listProblems(removal),
    'Files to remove:',
    ...files.map((file) => `  ${file}`),
    '',
    'Changes of other files:',
    diffOf(contentsOf(indexes)),
    ...describeIndexes(
      indexes.filter(({ content }) => content === undefined),
      'Remove',
    ),
    '',
    ...(tables.length > 0
      ? [`The migration: ${tables.map((table) => `DROP TABLE "${table}";`).join(' ')}`, '']
      : []),
    'Nothing of this is done.',
  ]
}
