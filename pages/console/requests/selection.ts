import { useEffect, useReducer } from 'react'

import { addressOf, replaceAddress } from '../location.ts'
import { type Choice, filterNames, nothingChosen } from './choices.tsx'

/** Which requests are listed, and in which order: `#/requests?filter=tasks&errors&status=5xx`. */
interface Selection {
  filter: string
  onlyErrors: boolean
  withFiles: boolean
  isByDuration: boolean
  choice: Choice
}

/** Survives a change of the view. At first, an empty query: everything. */
let last = parseSelection(new URLSearchParams())

function parseSelection(query: URLSearchParams): Selection {
  const choice = { ...nothingChosen }
  for (const name of filterNames) choice[name] = query.get(name) ?? ''
  return {
    filter: query.get('filter') ?? '',
    onlyErrors: query.has('errors'),
    withFiles: query.has('files'),
    isByDuration: query.get('sort') === 'duration',
    choice,
  }
}

function toQuery({ filter, onlyErrors, withFiles, isByDuration, choice }: Selection) {
  const query = new URLSearchParams()
  if (filter) query.set('filter', filter)
  if (onlyErrors) query.set('errors', '')
  if (withFiles) query.set('files', '')
  if (isByDuration) query.set('sort', 'duration')
  for (const name of filterNames) if (choice[name]) query.set(name, choice[name])
  return query
}

/** Returns the selection of the address, or the last selection if the address has none. `item`: the open request. */
export function useSelection(item: string, query: URLSearchParams) {
  const [, render] = useReducer((count: number) => count + 1, 0)
  const selection = query.size > 0 ? parseSelection(query) : last
  useEffect(() => {
    last = selection
  })
  return {
    selection,
    change: (changes: Partial<Selection>) => {
      last = { ...selection, ...changes }
      replaceAddress(addressOf('requests', item, toQuery(last)))
      // An address without a selection stays the same when the last selection is cleared.
      render()
    },
    /** Returns the address of a request, or of the list, with the selection. */
    addressWith: (request = '') => addressOf('requests', request, toQuery(selection)),
  }
}
