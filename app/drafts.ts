import { useSyncExternalStore } from 'react'

const collections = new Set<Map<unknown, unknown>>()
const listeners = new Set<() => void>()

const notify = () => {
  for (const listener of listeners) listener()
}

export const subscribeToDrafts = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const hasDrafts = () => [...collections].some((drafts) => drafts.size > 0)

let owner: string | undefined

/** Deletes the drafts of another person. Without a person, keeps the drafts until the person signs in again. */
export function keepDraftsOf(personId: string | undefined) {
  if (personId === undefined || personId === owner) return
  owner = personId
  for (const drafts of collections) drafts.clear()
  notify()
}

/**
 * Creates a collection of texts that the person has not saved yet. A draft outlives its view and a session that ends
 * elsewhere, but not the page.
 */
export function createDrafts<Key, Draft>() {
  const drafts = new Map<Key, Draft>()
  collections.add(drafts)
  return {
    use: (key: Key) => useSyncExternalStore(subscribeToDrafts, () => drafts.get(key)),
    get: (key: Key) => drafts.get(key),
    list: () => [...drafts.values()],
    keep: (key: Key, draft: Draft) => {
      drafts.set(key, draft)
      notify()
    },
    forget: (key: Key) => {
      drafts.delete(key)
      notify()
    },
  }
}
