import { useSyncExternalStore } from 'react'

interface Collection {
  clear: () => void
  isUnsaved: () => boolean
}

const collections = new Set<Collection>()
const listeners = new Set<() => void>()

const notify = () => {
  for (const listener of listeners) listener()
}

export const subscribeToDrafts = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const hasDrafts = () => [...collections].some(({ isUnsaved }) => isUnsaved())

let owner: string | undefined

/** Returns the id of the person who owns the drafts. A late answer must not change the drafts of the next person. */
export const ownerOfDrafts = () => owner

/** Deletes the drafts of another person. Without a person, keeps the drafts until the person signs in again. */
export function keepDraftsOf(personId: string | undefined) {
  if (personId === undefined || personId === owner) return
  owner = personId
  for (const { clear } of collections) clear()
  notify()
}

/**
 * Creates a collection of texts that the person has not saved yet. A draft outlives its view and a session that ends
 * elsewhere, but not the page. `isUnchanged` returns whether a draft contains nothing to save.
 */
export function createDrafts<Key, Draft>(isUnchanged: (draft: Draft) => boolean = () => false) {
  const drafts = new Map<Key, Draft>()
  // Replaced only after a change, because useSyncExternalStore compares the lists by identity.
  let list: readonly Draft[] = []
  const change = () => {
    list = [...drafts.values()]
    notify()
  }
  collections.add({
    clear: () => {
      drafts.clear()
      list = []
    },
    isUnsaved: () => !list.every(isUnchanged),
  })
  return {
    use: (key: Key) => useSyncExternalStore(subscribeToDrafts, () => drafts.get(key)),
    useAll: () => useSyncExternalStore(subscribeToDrafts, () => list),
    get: (key: Key) => drafts.get(key),
    keep: (key: Key, draft: Draft) => {
      drafts.set(key, draft)
      change()
    },
    forget: (key: Key) => {
      drafts.delete(key)
      change()
    },
  }
}

/** The edited fields of an item, and the version of the item that the person has begun to edit. */
export interface Edit<Base, Fields> {
  base: Base
  fields: Fields
}

/** Creates the drafts of the items that the person edits. Each open form has a draft, also before the first change. */
export const createEdits = <Key, Base extends Fields, Fields>(isEqual: (a: Fields, b: Fields) => boolean) =>
  createDrafts<Key, Edit<Base, Fields>>(({ base, fields }) => isEqual(base, fields))
