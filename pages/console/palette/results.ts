import { useQuery } from '@tanstack/react-query'

import { client, proceduresQuery } from '../client.ts'
import { tablesQuery } from '../data/tables.ts'
import { toQuery } from '../data/filters.ts'
import { addressOf, isView, views } from '../location.ts'
import { nameOf, useRecording } from '../requests/recording.ts'

export interface Result {
  kind: 'View' | 'Procedure' | 'Table' | 'Request' | 'Person'
  name: string
  detail: string
  address: string
}

/** The most results of each kind. */
const limits: Record<Result['kind'], number> = {
  View: Infinity,
  Procedure: 8,
  Table: 5,
  Request: 4,
  Person: 3,
}

const viewResults = Object.keys(views)
  .filter(isView)
  .map((view) => ({ kind: 'View' as const, name: views[view], detail: '', address: addressOf(view) }))

/** The length from which a text searches people, in characters. */
const MIN_SEARCH = 2

/** Returns the results whose names or details have all words, the results with all words in the name first. */
function search(results: readonly Result[], words: readonly string[]) {
  const has = (text: string) => words.every((word) => text.toLowerCase().includes(word))
  const byName = results.filter(({ name }) => has(name))
  const others = results.filter(({ name, detail }) => !has(name) && has(`${name} ${detail}`))
  return [...byName, ...others]
}

/** Returns the views, procedures, tables, requests and people that a text finds. */
export function useResults(text: string): Result[] {
  const value = text.trim().toLowerCase()
  const words = value.split(/\s+/)
  const { data: procedures = [] } = useQuery(proceduresQuery)
  const { data: tables = [] } = useQuery(tablesQuery)
  const { requests } = useRecording()
  const people = usePeople(value)
  const all: Result[] = [
    ...viewResults,
    ...procedures.map(({ operation, summary }) => ({
      kind: 'Procedure' as const,
      name: operation,
      detail: summary.replaceAll('`', ''),
      address: addressOf('procedures', operation),
    })),
    ...tables
      .filter(({ isHidden }) => !isHidden)
      .map(({ name }) => ({ kind: 'Table' as const, name, detail: '', address: addressOf('data', name) })),
    ...requests.map((request) => ({
      kind: 'Request' as const,
      name: request.operation ?? `${request.method} ${request.path}`,
      detail: [request.status, request.person, request.id].filter(Boolean).join(' '),
      address: addressOf('requests', nameOf(request)),
    })),
    ...people,
  ]
  const found = search(all, words)
  return Object.entries(limits).flatMap(([kind, limit]) =>
    found.filter((result) => result.kind === kind).slice(0, limit),
  )
}

/** Searches people by their addresses. */
function usePeople(value: string) {
  const { data } = useQuery({
    queryKey: ['rows', 'users', value],
    queryFn: ({ signal }) =>
      client.data.rows(
        { table: 'users', filters: [{ column: 'email', operator: 'contains', value }], page: 0 },
        { signal },
      ),
    enabled: value.length >= MIN_SEARCH,
  })
  if (!data) return []
  const valueOf = (row: (typeof data.rows)[number], column: string) => row[data.columns.indexOf(column)] ?? ''
  return data.rows.map((row): Result => {
    const id = valueOf(row, 'id')
    const query = toQuery({ filters: [{ column: 'id', operator: 'is', value: id }], page: 0, row: [id] })
    return {
      kind: 'Person',
      name: valueOf(row, 'email'),
      detail: valueOf(row, 'name'),
      address: addressOf('data', 'users', query),
    }
  })
}
