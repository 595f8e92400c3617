import { useEffect, useSyncExternalStore } from 'react'

import type { ProcedureDescription } from '../../engine/openapi/procedure-description.ts'

/** The address of a procedure: `#tasks.create`. */
export const addressOf = (operation: string) => `#${encodeURIComponent(operation)}`

/**
 * Returns the address for a former address of the OpenAPI document: `#tasks.create` for `#/tasks/tasks_create`, and `#` for the
 * address of a tag. Returns undefined for other addresses.
 */
export function findCurrentAddress(hash: string, procedures: readonly ProcedureDescription[]) {
  if (!hash.startsWith('#/')) return undefined
  const id = decode(hash.split('/').at(2) ?? '')
  const procedure = procedures.find(({ operation }) => operation.replaceAll('.', '_') === id)
  return procedure ? addressOf(procedure.operation) : '#'
}

function decode(text: string) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function subscribe(onChange: () => void) {
  addEventListener('hashchange', onChange)
  return () => {
    removeEventListener('hashchange', onChange)
  }
}

/** Returns the operation in the address of the page. Empty for the introduction. Replaces former addresses. */
export function useOperation(procedures: readonly ProcedureDescription[]) {
  const hash = useSyncExternalStore(subscribe, () => location.hash)
  const current = findCurrentAddress(hash, procedures)
  useEffect(() => {
    if (current !== undefined) location.replace(current)
  }, [current])
  return decode((current ?? hash).slice(1))
}
