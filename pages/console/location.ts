import { useMemo, useSyncExternalStore } from 'react'

/** The views by the first part of their addresses. */
export const views = {
  start: 'Start here',
  procedures: 'Procedures',
  requests: 'Requests',
  live: 'Live',
  jobs: 'Jobs',
  outbox: 'Outbox',
  data: 'Data',
}
export type View = keyof typeof views

/** The address of a view: `#/data/tasks?is.status=pending`. */
export interface Place {
  view: View
  /** The operation or the table. Empty for none. */
  item: string
  query: URLSearchParams
}

export const isView = (name: string): name is View => Object.hasOwn(views, name)

export function parsePlace(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?')
  const [view = '', item = ''] = path.split('/')
  return { view: isView(view) ? view : 'start', item: decode(item), query: new URLSearchParams(query) }
}

function decode(text: string) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export function addressOf(view: View, item = '', query = new URLSearchParams()) {
  const search = query.toString()
  return `#/${view}${item && `/${encodeURIComponent(item)}`}${search && `?${search}`}`
}

/** Replaces the address of the page, without a new entry in the history. */
export function replaceAddress(address: string) {
  history.replaceState(null, '', address)
  dispatchEvent(new HashChangeEvent('hashchange'))
}

function subscribe(onChange: () => void) {
  addEventListener('hashchange', onChange)
  return () => {
    removeEventListener('hashchange', onChange)
  }
}

/** Returns the place that the address of the page names. */
export function usePlace(): Place {
  const hash = useSyncExternalStore(subscribe, () => location.hash)
  return useMemo(() => parsePlace(hash), [hash])
}

/** Whether a list and its detail are beside each other. The same width is in main.css. */
export const isWide = () => matchMedia('(min-width: 56.25rem)').matches
