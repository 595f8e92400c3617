import { useQuery } from '@tanstack/react-query'
import { createContext, useContext, useEffect } from 'react'

import type { ProcedureDescription } from '../../../../engine/openapi/procedure-description.ts'
import { fieldsOf, isRecord } from '../schema.ts'

/** An id that a field can hold, and the first text of its item. */
export interface IdOption {
  id: string
  text: string
}

type Input = Readonly<Record<string, unknown>>

/** Calls a procedure that lists, as the caller of the form. Returns the body of the answer. */
export type ListItems = (procedure: ProcedureDescription, input: Input | undefined) => Promise<string>

interface Source {
  /** Who calls: each caller has other ids. */
  caller: unknown
  procedures: readonly ProcedureDescription[]
  listItems: ListItems
}

/** Where the forms of a page find ids. Without a source, no ids are offered. */
export const IdSourceContext = createContext<Source | undefined>(undefined)

/** The most offered ids. */
const MAX_OPTIONS = 50

/** Longest text beside an id, in characters. */
const MAX_TEXT = 80

/** Returns the resource whose ids a field holds: `tasks` for `id` of `tasks.get`, and `projects` for `projectId`. */
export function resourceOf(field: string, resource: string, resources: readonly string[]) {
  if (field === 'id') return resource
  const [, name] = /^(.+)Id$/.exec(field) ?? []
  if (name === undefined) return undefined
  const plurals = [name, `${name}s`, `${name}es`, name.replace(/y$/, 'ies')]
  return resources.find((each) => plurals.includes(each))
}

/**
 * Returns the ids of a list as JSON: of the first list of objects with ids. The text is the first other text of an item, for example
 * its title.
 */
export function optionsIn(body: string): IdOption[] {
  const output: unknown = JSON.parse(body)
  const lists = isRecord(output) ? Object.values(output).filter((value) => Array.isArray(value)) : []
  const items = (lists[0] ?? []) as readonly unknown[]
  return items
    .filter((item) => isRecord(item))
    .filter(({ id }) => typeof id === 'string' || typeof id === 'number')
    .slice(0, MAX_OPTIONS)
    .map(({ id, ...others }) => ({ id: String(id), text: textOf(others) }))
}

const textOf = ({ name, title, email, ...others }: Input) =>
  [name, title, email, ...Object.values(others)]
    .find((value): value is string => typeof value === 'string' && value !== '')
    ?.slice(0, MAX_TEXT) ?? ''

interface IdField {
  procedure: ProcedureDescription
  name: string
  /** The input of the form. Undefined if the form has no valid input. */
  input: Input | undefined
  /** Receives the newest id if the field holds an id of the example that is not offered. Undefined to keep the value. */
  onSuggest: ((id: string) => void) | undefined
}

/** Returns the options for a field, and the function that loads the options again when the field receives the focus. */
export function useIdOptions({ procedure, name: field, input, onSuggest }: IdField) {
  const source = useContext(IdSourceContext)
  const list = source && findList(source.procedures, procedure.resource, field)
  // A list in a parent needs the parent's id.
  const names = fieldsOf(list?.input ?? null, '')?.filter(({ isRequired }) => isRequired) ?? []
  const missing = names.some(({ name }) => input?.[name] === undefined)
  const canLoad = source !== undefined && list !== undefined && !missing
  const required = Object.fromEntries(names.map(({ name }) => [name, input?.[name]]))
  // Without an answer, for example without a session, the field offers nothing.
  const { data: options = [], refetch } = useQuery({
    queryKey: ['ids', list?.operation, required, source?.caller],
    queryFn: async () =>
      source && list ? optionsIn(await source.listItems(list, names.length > 0 ? required : undefined)) : [],
    enabled: canLoad,
    retry: false,
  })
  const [newest] = options
  const value = input?.[field]
  const isId = typeof value === 'string' || typeof value === 'number'
  const isOffered = !isId || options.some(({ id }) => id === String(value))
  useEffect(() => {
    if (newest && !isOffered) onSuggest?.(newest.id)
  })
  return {
    options,
    load: () => {
      if (canLoad) void refetch()
    },
  }
}

function findList(procedures: readonly ProcedureDescription[], own: string, field: string) {
  const resources = procedures.map(({ resource }) => resource)
  const resource = resourceOf(field, own, resources)
  return procedures.find(
    ({ operation, method, isStream }) =>
      operation === `${resource ?? ''}.list` && method === 'GET' && !isStream,
  )
}
