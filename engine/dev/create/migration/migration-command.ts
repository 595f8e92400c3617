import { readFileSync } from 'node:fs'

import { findMigrationProblems, type MigrationOptions, RUN_ADVICE, writeMigration } from './migration.ts'

/** Writes a migration. Returns lines that describe the result. */
export async function createMigration(options: MigrationOptions): Promise<string[]> {
  const { tag, files, corrections } = await writeMigration(options)
  const sql = files.find((file) => file.endsWith('.sql'))
  return [
    ...corrections.map((correction) => `Corrected: ${correction}`),
    ...files.map((file) => `Wrote ${file}`),
    ...(tag === undefined ? ['The tables have not changed since the last migration.'] : []),
    ...(sql === undefined ? [] : describeRisks(readFileSync(sql, 'utf8'))),
  ]
}

/** Throws if `createMigration` would change files. */
export async function checkMigrations({ config }: MigrationOptions): Promise<string[]> {
  const problems = await findMigrationProblems(config)
  if (problems.length > 0) throw new Error([...problems, RUN_ADVICE].join('\n'))
  return ['The migrations are complete.']
}

/**
 * Statements after which the queries of the previous release fail: a name or a type has changed, or an insert lacks a value.
 * During a deployment, processes of both releases run.
 */
const RISKS =
  /^.*(\bRENAME (TO|COLUMN)\b|\bDROP (COLUMN|TABLE|TYPE|VIEW|MATERIALIZED|SCHEMA)\b|\bSET DATA TYPE\b|\bSET NOT NULL\b|\bADD COLUMN (?!.*\b(DEFAULT|GENERATED)\b).*\bNOT NULL\b).*$/gim

export function describeRisks(text: string): string[] {
  const statements = [...text.matchAll(RISKS)].map(([line]) => `  ${line.replace(/-->.*/, '')}`)
  if (statements.length === 0 || text.startsWith('-- breaking')) return []
  return [
    'The previous release fails after these statements:',
    ...statements,
    'If its processes can run meanwhile, or you may have to return to it, begin the file with the line `-- breaking` before any database has applied it (option --breaking). Or add now, and rename or drop in a later release.',
  ]
}
