import { useEffect, useSyncExternalStore } from 'react'

import type { ProcedureDescription } from '../../engine/openapi/procedure-description.ts'

/** The address of a procedure: `#tasks.create`. */
export const addressOf = (operation: string) => `#${encodeURIComponent(operation)}`

/** The addresses of the sections of the introduction, which are the ids of the sections. */
export const sections = [
  'first-call',
  'resources',
  'sign-in',
  'tokens',
  'mcp',
  'errors',
  'pages',
  'retries',
  'live-updates',
] as const
export type Section = (typeof sections)[number]

/** The address of the introduction. */
export const INTRODUCTION = 'introduction'

export interface Address {
  /** The name in the address: of a procedure, or of a part of the introduction. */
  name: string
  procedure: ProcedureDescription | undefined
  isIntroduction: boolean
  /** The id of the element to scroll to. Empty for the start of the page. */
  section: string
}

/** Parses an address: `#tasks.create`, `#tasks.create/errors`, `#errors`, or empty for the introduction. */
export function parseAddress(hash: string, procedures: readonly ProcedureDescription[]): Address {
  const name = decode(hash.slice(1))
  const [operation = '', section = ''] = name.split('/', 2)
  const procedure = procedures.find((each) => each.operation === operation)
  if (procedure) return { name: operation, procedure, isIntroduction: false, section }
  const isSection = sections.some((each) => each === name)
  const isIntroduction = isSection || name === '' || name === INTRODUCTION
  return { name, procedure: undefined, isIntroduction, section: isSection ? name : '' }
}

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

/** Returns the address of the page. Replaces former addresses. */
export function useAddress(procedures: readonly ProcedureDescription[]) {
  const hash = useSyncExternalStore(subscribe, () => location.hash)
  const current = findCurrentAddress(hash, procedures)
  useEffect(() => {
    if (current !== undefined) location.replace(current)
  }, [current])
  return parseAddress(current ?? hash, procedures)
}
