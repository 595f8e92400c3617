import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { readMigrations, withoutLeadingComments } from 'tallystick/internal/db/migrate/migration-files'
import { findDrizzleKit, generate, type Outcome, type Sources, sourcesOf, withCopy } from './drizzle-kit.ts'
import { describeQuestion, drop, rename } from './renames.ts'
import { findSharedNumbers, lastSnapshotIn, planJoin, prefixOf, readSnapshot } from './snapshots.ts'

const CONFIG = 'db/drizzle.config.ts'
const BREAKPOINT = '--> statement-breakpoint\n'

export interface MigrationOptions {
  name?: string | undefined
  /** Writes a migration without statements, for statements by hand. */
  custom?: boolean | undefined
  /** Writes a migration without statements: the changes of the tables are in other migrations. */
  empty?: boolean | undefined
  /** Begins the file with `-- breaking`. */
  breaking?: boolean | undefined
  /** Answers to the questions of drizzle-kit: `table.column:new_name` and `table:new_name`. */
  rename?: readonly string[] | undefined
  /** Answers to the questions of drizzle-kit: `table.column` and `table`. */
  drop?: readonly string[] | undefined
  config?: string | undefined
}

interface Written {
  /** The name of the new migration. Undefined if nothing has changed. */
  tag: string | undefined
  /** The new and changed files. */
  files: string[]
  /** The corrections of snapshots, if two merged branches have both added a migration after the same one. */
  corrections: string[]
}

/**
 * Writes the migration for the changes of the tables. Before, joins the snapshots of merged branches. If a step fails, changes
 * no file.
 */
export async function writeMigration({ config = CONFIG, ...options }: MigrationOptions): Promise<Written> {
  const sources = sourcesOf(config)
  return withCopy(sources, async (copy) => {
    const { files, problems } = joinBranches(copy)
    const changed = [...files, ...(await writeInCopy(copy, options))]
    for (const file of changed)
      cpSync(join(copy.folder, file), join(sources.folder, file), { recursive: true })
    const tag = changed.find((file) => file.endsWith('.sql'))?.replace(/\.sql$/, '')
    return { tag, files: changed.map((file) => join(sources.folder, file)), corrections: problems }
  })
}

/** Returns the names of the changed files in the folder. */
function joinBranches({ folder }: Sources) {
  const { files, problems } = planJoin(folder)
  for (const [file, content] of files) writeFileSync(join(folder, file), content)
  return { files: [...files.keys()], problems }
}

/** Writes the migration in the copy. Returns the names of the new and changed files. */
async function writeInCopy(copy: Sources, options: MigrationOptions): Promise<string[]> {
  const file = lastSnapshotIn(copy.folder)
  const before = file === undefined ? undefined : readFileSync(file)
  const statements = answerQuestions(file, options)
  const outcome = await generateOrAsk(copy, options, statements.length > 0)
  // `answerQuestions` has changed the last snapshot only for this run of drizzle-kit.
  if (file !== undefined && before) writeFileSync(file, before)
  if (outcome.kind !== 'written') return []
  const sql = join(copy.folder, `${outcome.tag}.sql`)
  if (options.empty) writeFileSync(sql, '-- The statements are in earlier migrations.\n')
  else writeStatements(sql, statements, options)
  return [`${outcome.tag}.sql`, `meta/${prefixOf(outcome.tag)}_snapshot.json`, 'meta/_journal.json']
}

/** Changes the last snapshot. Returns the statements for the changes. */
function answerQuestions(
  file: string | undefined,
  { rename: renames = [], drop: drops = [] }: MigrationOptions,
) {
  if (renames.length + drops.length === 0) return []
  if (file === undefined) throw new Error('There is no migration yet, so nothing can be renamed or dropped.')
  let snapshot = readSnapshot(file)
  const statements: string[] = []
  const changes = [
    ...drops.map((name) => (before: typeof snapshot) => drop(before, name)),
    ...renames.map((answer) => (before: typeof snapshot) => rename(before, answer)),
  ]
  for (const change of changes) {
    const changed = change(snapshot)
    snapshot = changed.snapshot
    statements.push(changed.statement)
  }
  writeFileSync(file, JSON.stringify(snapshot, null, 2))
  return statements
}

async function generateOrAsk(
  copy: Sources,
  options: MigrationOptions,
  hasStatements: boolean,
): Promise<Outcome> {
  const { name, custom } = options
  const isInteractive = process.stdin.isTTY && process.stdout.isTTY
  const outcome = await generate(copy, { name, custom })
  if (outcome.kind === 'question' && isInteractive) return generate(copy, { name, isInteractive })
  if (outcome.kind === 'question') throw new Error(await explainQuestion(copy))
  // The answers are the whole change: drizzle-kit writes an empty migration for their statements.
  return outcome.kind === 'nothing' && hasStatements ? generate(copy, { name, custom: true }) : outcome
}

/** Describes the possible answers, from the snapshot that drizzle-kit writes without earlier migrations. */
async function explainQuestion(copy: Sources) {
  const last = lastSnapshotIn(copy.folder)
  if (last === undefined) return 'drizzle-kit asks a question. Run the command in a terminal.'
  // Without a folder, the copy has no migrations, so that drizzle-kit writes a snapshot of all tables.
  const answers = await withCopy({ ...copy, folder: '' }, async (empty) => {
    await generate(empty)
    const current = lastSnapshotIn(empty.folder)
    return current === undefined ? [] : describeQuestion(readSnapshot(last), readSnapshot(current))
  })
  return [
    'Is this renamed, or replaced? Run the command in a terminal, which asks, or add an option for each:',
    ...answers,
  ].join('\n')
}

/** Completes a file of drizzle-kit with the statements of the answers and the marker. */
function writeStatements(file: string, answers: readonly string[], { custom, breaking }: MigrationOptions) {
  const text = readFileSync(file, 'utf8')
  // Without changes, drizzle-kit writes only a comment.
  const generated = withoutLeadingComments(text) === '' && !custom ? [] : [text]
  const marker = breaking ? '-- breaking\n' : ''
  writeFileSync(file, marker + [...answers, ...generated].join(BREAKPOINT))
}

/**
 * Returns what `writeMigration` would correct: tables without a migration, and snapshots of merged branches. Nothing in an
 * installation without drizzle-kit. Changes no file.
 */
export async function findMigrationProblems(config = CONFIG): Promise<string[]> {
  if (!existsSync(config) || findDrizzleKit() === undefined) return []
  return withCopy(sourcesOf(config), async (copy) => {
    const { problems } = joinBranches(copy)
    const outcome = await generate(copy)
    const differ = `The tables in ${dirname(config)}/ differ from the migrations`
    if (outcome.kind === 'question') problems.push(`${differ}: something is renamed or replaced`)
    if (outcome.kind === 'written') {
      problems.push(`${differ}: ${statementsIn(copy, outcome.tag).map(firstLine).join(' … ')}`)
      const shared = findSharedNumbers(copy.folder)
      if (shared.length > 0)
        problems.push(
          `${shared.join(', ')} have the same number, so that git has kept one snapshot. If these files have the statements above, run: npm run migration -- --empty`,
        )
    }
    return problems
  })
}

export const RUN_ADVICE = 'Run: npm run migration'

const statementsIn = ({ folder: migrationsFolder }: Sources, tag: string) =>
  readMigrations({ prefix: '', migrationsFolder, migrationsTable: '' })
    .filter(({ name }) => name === tag)
    .flatMap(({ statements }) => statements.map(({ text }) => text))

const firstLine = (statement: string) =>
  withoutLeadingComments(statement).split('\n', 1)[0]?.replace(/ ?\($/, '') ?? ''
