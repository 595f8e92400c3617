import { existsSync } from 'node:fs'
import { join } from 'node:path'

import type { IndexChange } from './indexes.ts'
import { writeMigration } from '../migration/migration.ts'
import { findDevPackage } from '../packages.ts'
import { findParent, type Kind } from './parents.ts'
import { type Plan, planResource, readText } from './plan.ts'
import { diffTexts } from '../upgrade/git.ts'
import { withFiles } from './write.ts'

export interface AddOptions {
  /** The name of one item. By default, the singular. */
  singular?: string
  /** Whether the rows have members, who have a role by their address. */
  shared?: true
  /** The resource that the rows are within. */
  of?: string
  page: boolean
  /** Whether the command only prints the plan. */
  dryRun?: true
}

/**
 * Adds a resource to the project in the working folder: contract, table with queries, procedures, test, the lines in the
 * indexes, and the migration. If a step fails, restores all files. Returns lines that describe the result.
 */
export async function addResource(
  name: string,
  { singular, shared, of, page, dryRun }: AddOptions,
): Promise<string[]> {
  if (shared && of !== undefined)
    throw new Error('Choose --shared or --of: rows within a parent are shared if the parent is.')
  const kind: Kind =
    of === undefined ? { type: shared ? 'shared' : 'own' } : { type: 'within', parent: findParent('.', of) }
  const plan = planResource('.', join(findDevPackage(), 'template'), {
    name,
    one: singular,
    kind,
    hasPage: page && existsSync('app/main.tsx'),
  })
  if (dryRun) return describePlan(plan)
  const { names, created, indexes } = plan
  const { tag, files } = await withFiles(new Map([...created, ...contentsOf(indexes)]), async () => {
    const written = await writeMigration({ name: `add_${names.snake}` })
    if (written.tag === undefined)
      throw new Error(`drizzle-kit does not find the table ${names.snake} in db/.`)
    return written
  })
  const migration = files.filter((file) => tag !== undefined && !file.endsWith('_journal.json'))
  return [
    ...[...created.keys(), ...migration].map((file) => `Created ${file}`),
    ...describeIndexes(indexes, 'Add'),
    ...(`${names.wordsOne}s` === names.words
      ? []
      : [`One item has the name: ${names.wordsOne} (another: remove ${name}, and add it with --singular)`]),
    'The service applies the migration when it starts. Check the new files: npm run check && npm test',
  ]
}

/** The new contents of the indexes with a known form. */
export const contentsOf = (indexes: readonly IndexChange[]) =>
  indexes.flatMap(({ file, content }) => (content === undefined ? [] : [[file, content] as const]))

/** Describes the changes of the indexes, with the lines to add or remove by hand. */
export const describeIndexes = (indexes: readonly IndexChange[], verb: 'Add' | 'Remove') =>
  indexes.flatMap(({ file, content, lines }) =>
    content === undefined
      ? [`${file} has an unknown form. ${verb} these lines:`, ...lines.map((line) => `  ${line}`)]
      : [`Changed ${file}`],
  )

/** Returns the differences of files as a patch. */
export const diffOf = (contents: readonly (readonly [file: string, content: string])[]) =>
  diffTexts(new Map(contents.map(([file]) => [file, readText(file)])), new Map(contents)).trimEnd()

function describePlan({ names, created, table, indexes }: Plan) {
  const unknown = indexes.filter(({ content }) => content === undefined)
  return [
    `One item has the name: ${names.wordsOne} (another: --singular)`,
    '',
    'New files:',
    ...[...created.keys(), `db/migrations/<time>_add_${names.snake}.sql`].map((file) => `  ${file}`),
    '',
    'Changes of other files:',
    diffOf(contentsOf(indexes)),
    ...describeIndexes(unknown, 'Add'),
    '',
    'The migration:',
    table,
    '',
    'Nothing of this is written.',
  ]
}
