import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { toErrorMessage } from '../errors.ts'

/** The folder of the engine's migrations, seen from the bundle in dist/start and from this file. */
const engineFolder =
  ['./engine-migrations', '../migrations']
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(path)) ?? ''

/** A folder of migrations, as drizzle-kit writes the files, and the table with the applied migrations. */
export interface Journal {
  /** Begins the names of the migrations. */
  prefix: string
  migrationsFolder: string
  migrationsTable: string
}

/** The engine's migrations are first, because tables of an application reference tables of the engine. */
export const journalsOf = (migrationsFolder: string): [engine: Journal, application: Journal] => [
  { prefix: 'tallystick/', migrationsFolder: engineFolder, migrationsTable: '__tallystick_migrations' },
  { prefix: '', migrationsFolder, migrationsTable: '__drizzle_migrations' },
]

/** An error of migrations, whose message has the name of the migration or of the file. */
export class MigrationError extends Error {}

export interface Statement {
  text: string
  /** The line of the file where the text begins. */
  line: number
}

export interface Migration {
  name: string
  /** When the migration was created, in milliseconds since the Unix epoch. */
  time: number
  /** The hash of the file with line ends of one character (LF). */
  hash: string
  /** The hash of the file with line ends of two characters, which earlier releases recorded on Windows. */
  hashWithCrLf: string
  /** Whether programs of earlier releases cannot use the database afterwards: the file begins with `-- breaking`. */
  isBreaking: boolean
  /** False if the file begins with `-- no transaction`. */
  isTransactional: boolean
  statements: Statement[]
}

const BREAKPOINT = '--> statement-breakpoint'

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

/** Reads the migrations of a journal, in the order of their application. */
export function readMigrations({ prefix, migrationsFolder }: Journal): Migration[] {
  return readEntries(migrationsFolder).map(({ tag, when }) => {
    const file = join(migrationsFolder, `${tag}.sql`)
    if (!existsSync(file))
      throw new MigrationError(`${file} is missing, and ${journalIn(migrationsFolder)} has it.`)
    const text = readFileSync(file, 'utf8').replaceAll('\r\n', '\n')
    const markers = /^(\s*--(?!>).*\n?)*/.exec(text)?.[0] ?? ''
    return {
      name: prefix + tag,
      time: when,
      hash: hashOf(text),
      hashWithCrLf: hashOf(text.replaceAll('\n', '\r\n')),
      isBreaking: /^\s*-- breaking/m.test(markers),
      isTransactional: !/^\s*-- no transaction/m.test(markers),
      statements: toStatements(text),
    }
  })
}

export interface JournalEntry {
  tag: string
  when: number
}

export const journalIn = (migrationsFolder: string) => join(migrationsFolder, 'meta/_journal.json')

/** Reads the journal of drizzle-kit. Throws if the file is no JSON, for example in the middle of a merge. */
export function readEntries(migrationsFolder: string): JournalEntry[] {
  const file = journalIn(migrationsFolder)
  const text = readFileSync(file, 'utf8')
  try {
    return (JSON.parse(text) as { entries: JournalEntry[] }).entries
  } catch (cause) {
    throw new MigrationError(
      `${file}: ${toErrorMessage(cause)}. After a merge, keep either side of the file, and run: npm run migration`,
      { cause },
    )
  }
}

function toStatements(text: string): Statement[] {
  let line = 1
  return text.split(BREAKPOINT).flatMap((part) => {
    const start = line + countLineBreaks(/^\s*/.exec(part)?.[0] ?? '')
    line += countLineBreaks(part)
    return withoutLeadingComments(part) === '' ? [] : [{ text: part.trim(), line: start }]
  })
}

export const countLineBreaks = (text: string) => text.split('\n').length - 1

/** Returns a statement without the blanks and comments before the statement. */
export const withoutLeadingComments = (text: string) =>
  text.replace(/^(\s|--[^\n]*(\n|$)|\/\*[^]*?\*\/)*/, '').trim()

/** Returns the names of the tables that the migrations in a folder create. */
export const listTablesIn = (migrationsFolder: string) =>
  readMigrations({ prefix: '', migrationsFolder, migrationsTable: '' }).flatMap(({ statements }) =>
    statements.flatMap(({ text }) => /^\s*create table (?:if not exists )?"(\w+)"/i.exec(text)?.[1] ?? []),
  )

/** Returns the names of the engine's tables: the other tables belong to the application. */
export const listEngineTables = () => listTablesIn(engineFolder)

/** Returns the names of all migrations, in the order of their application. */
export const listMigrations = (migrationsFolder: string) =>
  journalsOf(migrationsFolder).flatMap((journal) => readMigrations(journal).map(({ name }) => name))
