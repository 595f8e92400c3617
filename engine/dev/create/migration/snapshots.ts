import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'

import { type JournalEntry, journalIn } from 'tallystick/internal/db/migrate/migration-files'

/** A table of a snapshot. The keys are names. */
export interface Table {
  name: string
  schema: string
  columns: Record<string, { name: string }>
  indexes: Record<string, { columns: { expression: string }[] }>
  foreignKeys: Record<
    string,
    { tableFrom: string; tableTo: string; columnsFrom: string[]; columnsTo: string[] }
  >
  compositePrimaryKeys: Record<string, { columns: string[] }>
  uniqueConstraints: Record<string, { columns: string[] }>
}

/** The tables after a migration, as drizzle-kit describes them. */
export interface Snapshot {
  id: string
  /** The id of the previous snapshot. */
  prevId: string
  tables: Record<string, Table>
}

interface Journal {
  entries: (JournalEntry & { idx: number; version: string; breakpoints: boolean })[]
}

/** A change of the files that drizzle-kit needs after a merge of branches. */
export interface Join {
  /** The new contents of files. */
  files: Map<string, string>
  /** What the change corrects, for people. */
  problems: string[]
}

const print = (value: object) => JSON.stringify(value, null, 2)

/** The number or time at the start of the name of a migration, which is also the name of its snapshot. */
export const prefixOf = (tag: string) => tag.split('_', 1)[0] ?? ''

const compareNames = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/**
 * Plans the changes after a merge of branches: entries of the journal for all files, in the order of the names, and snapshots
 * that each contain the changes of all previous ones. drizzle-kit compares the tables only with the last snapshot.
 */
export function planJoin(folder: string): Join {
  const journal = planJournal(folder)
  const snapshots = planSnapshots(folder)
  return {
    files: new Map([...journal.files, ...snapshots.files]),
    problems: [...journal.problems, ...snapshots.problems],
  }
}

/** Of the conflicts that git has written to a file, keeps the side of the own branch. */
const withoutConflicts = (text: string) =>
  text.replaceAll(/^<{7}.*\n([^]*?)(?:^\|{7}[^]*?)?^={7}\n[^]*?^>{7}.*\n/gm, '$1')

const JOURNAL = 'meta/_journal.json'

function planJournal(folder: string): Join {
  const file = journalIn(folder)
  if (!existsSync(file)) return { files: new Map(), problems: [] }
  const text = readFileSync(file, 'utf8')
  const journal = JSON.parse(withoutConflicts(text)) as Journal
  const files = readdirSync(folder).filter((name) => name.endsWith('.sql'))
  const listed = new Set(journal.entries.map(({ tag }) => tag))
  const missing = files.map((name) => name.replace(/\.sql$/, '')).filter((tag) => !listed.has(tag))
  const all = [...journal.entries, ...missing.map(entryOf)]
  const hasPrefixes = all.every(({ tag }) => /^\d+_/.test(tag))
  const entries = (hasPrefixes ? all.sort((a, b) => compareNames(a.tag, b.tag)) : all).map((entry, idx) => ({
    ...entry,
    idx,
  }))
  const isSorted = isDeepStrictEqual(
    journal.entries.map(({ tag }) => tag),
    entries.map(({ tag }) => tag),
  )
  if (isSorted && text === withoutConflicts(text)) return { files: new Map(), problems: [] }
  const problem =
    missing.length > 0
      ? `${JOURNAL} lacks ${missing.join(', ')}`
      : `${JOURNAL} has conflicts, or migrations that are not in the order of their names`
  return { files: new Map([[JOURNAL, print({ ...journal, entries })]]), problems: [problem] }
}

/**
 * Returns the names of migrations with the same number, of branches before the names had times. Git has kept the snapshot of only
 * one of them.
 */
export function findSharedNumbers(folder: string) {
  const tags = readdirSync(folder).flatMap((name) => /^(\d+_.*)\.sql$/.exec(name)?.[1] ?? [])
  return tags.filter((tag) => tags.filter((other) => prefixOf(other) === prefixOf(tag)).length > 1)
}

const entryOf = (tag: string) => ({ version: '7', when: timeOf(prefixOf(tag)), tag, breakpoints: true })

/** The time in the name of a migration. Otherwise now, as drizzle-kit writes the time. */
function timeOf(prefix: string) {
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(prefix)
  if (!parts) return Date.now()
  const [year = 0, month = 0, ...others] = parts.slice(1).map(Number)
  return Date.UTC(year, month - 1, ...others)
}

const snapshotFiles = (folder: string) =>
  existsSync(join(folder, 'meta'))
    ? readdirSync(join(folder, 'meta'))
        .filter((name) => name.endsWith('_snapshot.json'))
        .sort(compareNames)
        .map((name) => `meta/${name}`)
    : []

export function readSnapshot(file: string) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Snapshot
  } catch (cause) {
    throw new Error(
      `meta/${basename(file)} is no JSON. After a merge, keep either side of the file, and run: npm run migration`,
      { cause },
    )
  }
}

/** Returns the file of the last snapshot. Undefined in a project without migrations. */
export function lastSnapshotIn(folder: string) {
  const name = snapshotFiles(folder).at(-1)
  return name === undefined ? undefined : join(folder, name)
}

function planSnapshots(folder: string): Join {
  const result: Join = { files: new Map(), problems: [] }
  const originals = new Map<string, Snapshot>()
  let previous: Snapshot | undefined
  for (const file of snapshotFiles(folder)) {
    const snapshot = readSnapshot(join(folder, file))
    const base = originals.get(snapshot.prevId)
    originals.set(snapshot.id, snapshot)
    const isOfOtherBranch = previous !== undefined && snapshot.prevId !== previous.id
    if (isOfOtherBranch) result.problems.push(`${file} lacks the changes of another branch`)
    // A snapshot also gets the changes that its predecessor has got.
    if (previous && (isOfOtherBranch || (base && !isDeepStrictEqual(base, previous)))) {
      const merged = merge({ ...base }, { ...previous }, { ...snapshot })
      previous = { ...snapshot, ...merged, id: snapshot.id, prevId: previous.id }
      result.files.set(file, print(previous))
    } else previous = snapshot
  }
  return result
}

type Fields = Record<string, unknown>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Adds the changes from `base` to `later` to `earlier` (a three-way merge). The later change of one value wins. */
function merge(base: Fields, earlier: Fields, later: Fields): Fields {
  const keys = new Set([...Object.keys(earlier), ...Object.keys(later)])
  return Object.fromEntries(
    [...keys].flatMap((key) => {
      const value = mergeValue(base[key], earlier[key], later[key])
      return value === undefined ? [] : [[key, value]]
    }),
  )
}

function mergeValue(base: unknown, earlier: unknown, later: unknown) {
  if (isDeepStrictEqual(later, base)) return earlier
  if (isDeepStrictEqual(earlier, base)) return later
  if (isFields(earlier) && isFields(later)) return merge(isFields(base) ? base : {}, earlier, later)
  // Both branches have added values to one enum.
  if (isTexts(base) && isTexts(earlier) && isTexts(later)) return mergeTexts(base, earlier, later)
  return later
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

const mergeTexts = (base: string[], earlier: string[], later: string[]) => [
  ...earlier.filter((text) => later.includes(text) || !base.includes(text)),
  ...later.filter((text) => !earlier.includes(text) && !base.includes(text)),
]
