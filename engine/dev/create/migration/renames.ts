import type { Snapshot, Table } from './snapshots.ts'

// Answers the questions of drizzle-kit in advance: whether a column or a table is new or renamed. The statement is written, and
// the last snapshot is changed as if the statement had been applied before, so that drizzle-kit does not ask.

export interface Changed {
  snapshot: Snapshot
  statement: string
}

const quote = (name: string) => `"${name.replaceAll('"', '""')}"`
const qualifiedName = ({ schema, name }: Table) =>
  schema === '' ? quote(name) : `${quote(schema)}.${quote(name)}`

/** Reads `table` or `table.column`, each a name in the database, of tables in the schema public and in others. */
function find(snapshot: Snapshot, name: string) {
  const entries = Object.entries(snapshot.tables)
  const shownName = (table: Table) => (table.schema === '' ? table.name : `${table.schema}.${table.name}`)
  for (const [id, table] of entries) {
    if (shownName(table) === name) return { id, table }
    const prefix = `${shownName(table)}.`
    const column = name.startsWith(prefix) ? name.slice(prefix.length) : ''
    if (column in table.columns) return { id, table, column }
  }
  throw new Error(`${name}: the migrations have no such table or column. Write table, or table.column.`)
}

const replaceKey = <Value>(values: Record<string, Value>, from: string, to: string, value: Value) =>
  Object.fromEntries(Object.entries(values).map((entry) => (entry[0] === from ? [to, value] : entry)))

/** Renames a column (`table.column:name`) or a table (`table:name`). */
export function rename(before: Snapshot, answer: string): Changed {
  const [from = '', to = '', ...others] = answer.split(':')
  if (!/^\w+$/.test(to) || others.length > 0)
    throw new Error(`--rename ${answer}: write table.column:new_name, or table:new_name.`)
  const snapshot = structuredClone(before)
  const { id, table, column } = find(snapshot, from)
  const statement = `ALTER TABLE ${qualifiedName(table)} RENAME ${column === undefined ? '' : `COLUMN ${quote(column)} `}TO ${quote(to)};`
  if (column === undefined) renameTable(snapshot, id, table, to)
  else renameColumn(snapshot, table, column, to)
  return { snapshot, statement }
}

function renameTable(snapshot: Snapshot, id: string, table: Table, to: string) {
  const from = table.name
  const tables = replaceKey(snapshot.tables, id, id.replace(/[^.]*$/, to), { ...table, name: to })
  snapshot.tables = tables
  for (const { foreignKeys } of Object.values(tables))
    for (const key of Object.values(foreignKeys)) {
      if (key.tableFrom === from) key.tableFrom = to
      if (key.tableTo === from) key.tableTo = to
    }
}

function renameColumn(snapshot: Snapshot, table: Table, from: string, to: string) {
  const column = table.columns[from]
  if (column) table.columns = replaceKey(table.columns, from, to, { ...column, name: to })
  const renamed = (names: string[]) => names.map((name) => (name === from ? to : name))
  for (const index of Object.values(table.indexes))
    for (const part of index.columns) if (part.expression === from) part.expression = to
  for (const key of [...Object.values(table.compositePrimaryKeys), ...Object.values(table.uniqueConstraints)])
    key.columns = renamed(key.columns)
  for (const { foreignKeys } of Object.values(snapshot.tables))
    for (const key of Object.values(foreignKeys)) {
      if (key.tableFrom === table.name) key.columnsFrom = renamed(key.columnsFrom)
      if (key.tableTo === table.name) key.columnsTo = renamed(key.columnsTo)
    }
}

/** Deletes a column or a table. PostgreSQL deletes the indexes and constraints of a deleted column. */
export function drop(before: Snapshot, name: string): Changed {
  const snapshot = structuredClone(before)
  const { id, table, column } = find(snapshot, name)
  if (column === undefined) {
    const { [id]: _, ...others } = snapshot.tables
    snapshot.tables = others
    return { snapshot, statement: `DROP TABLE ${qualifiedName(table)};` }
  }
  const { [column]: _, ...columns } = table.columns
  table.columns = columns
  table.indexes = keep(table.indexes, ({ columns }) =>
    columns.every(({ expression }) => !new RegExp(`\\b${column}\\b`).test(expression)),
  )
  table.compositePrimaryKeys = keep(table.compositePrimaryKeys, ({ columns }) => !columns.includes(column))
  table.uniqueConstraints = keep(table.uniqueConstraints, ({ columns }) => !columns.includes(column))
  table.foreignKeys = keep(table.foreignKeys, ({ columnsFrom }) => !columnsFrom.includes(column))
  return { snapshot, statement: `ALTER TABLE ${qualifiedName(table)} DROP COLUMN ${quote(column)};` }
}

const keep = <Value>(values: Record<string, Value>, isKept: (value: Value) => boolean) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => isKept(value)))

/** Describes the answers to the question of drizzle-kit: the names that are new, and those that are gone. */
export function describeQuestion(before: Snapshot, after: Snapshot): string[] {
  const [old, current] = [before.tables, after.tables]
  const [gone, added] = [subtract(old, current), subtract(current, old)]
  const tables = gone.length > 0 && added.length > 0 ? [{ gone, added, owner: '' }] : []
  const columns = Object.keys(old).flatMap((id) => {
    const [earlier, later] = [old[id], current[id]]
    if (!earlier || !later) return []
    const owner = `${nameOf(id)}.`
    const names = {
      gone: subtract(earlier.columns, later.columns),
      added: subtract(later.columns, earlier.columns),
    }
    return names.gone.length > 0 && names.added.length > 0 ? [{ ...names, owner }] : []
  })
  return [...tables, ...columns].flatMap(({ gone, added, owner }) =>
    gone.map((id) => {
      const name = nameOf(id)
      const renames = added.map((to) => `--rename ${owner}${name}:${nameOf(to)}`)
      return `  ${owner}${name}: ${[...renames, `--drop ${owner}${name}`].join(', or ')}`
    }),
  )
}

const nameOf = (id: string) => id.replace(/^public\./, '')

const subtract = (a: object, b: object) => Object.keys(a).filter((key) => !(key in b))
