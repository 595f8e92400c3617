import type { Table } from './catalogue.ts'

/**
 * Sorts tables so that a table follows the tables that it references, as far as there are no cycles. Returns the foreign keys
 * that still reference the same or a later table: these must be checked after all rows.
 */
export function sortByReferences(tables: readonly Table[]) {
  const byName = new Map(tables.map((table) => [table.name, table]))
  const visited = new Set<Table>()
  const sorted: Table[] = []
  const visit = (table: Table | undefined) => {
    if (!table || visited.has(table)) return
    visited.add(table)
    for (const reference of table.references) visit(byName.get(reference.table))
    sorted.push(table)
  }
  tables.forEach(visit)
  const places = new Map(sorted.map(({ name }, place) => [name, place]))
  const forward = sorted.flatMap(({ name, references }, place) =>
    references
      .filter((reference) => (places.get(reference.table) ?? 0) >= place)
      .map((reference) => ({ table: name, key: reference.name, isDeferrable: reference.isDeferrable })),
  )
  return { sorted, forward }
}
