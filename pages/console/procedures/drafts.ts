import { useState } from 'react'

import type { ProcedureDescription } from '../../../engine/openapi/procedure-description.ts'
import { REMOVED } from '../../../engine/console/bounds.ts'
import { parseInput, type ParsedInput, toInput, toValues, type Values } from './input.ts'
import { exampleOf, type Field, fieldsOf } from './schema.ts'

/** What a person has entered for a call of a procedure. */
export interface Draft {
  mode: 'form' | 'json'
  values: Values
  json: string
  idempotencyKey: string
  ifMatch: string
  acceptLanguage: string
  /** Whether the person has changed the input. Before, its issues are not shown. */
  isEdited: boolean
  /** Whether the values are still those of the example, whose ids may not exist. */
  isExample: boolean
  /** The input of the last call, as JSON. */
  sent?: string
}

/** The drafts by operation, so that drafts survive a change of the view. */
const drafts = new Map<string, Draft>()

/** The entity tag of the last answer of each resource. */
const lastTags = new Map<string, string>()

/** Returns the entity tag of the last answer of a resource, for `If-Match`. */
export const lastTagOf = (resource: string) => lastTags.get(resource)

/** Keeps the entity tag of an answer, if the answer has one. */
export function keepTag(resource: string, headers: readonly (readonly [string, string])[]) {
  const tag = headers.find(([name]) => name.toLowerCase() === 'etag')?.[1]
  if (tag) lastTags.set(resource, tag)
}

export const toJson = (input: unknown) => (input === undefined ? '' : JSON.stringify(input, null, 2))

function createDraft(procedure: ProcedureDescription, fields: readonly Field[] | undefined): Draft {
  const { example, input, outputExample, method } = procedure
  const initial = example ?? exampleOf(input, outputExample, method === 'PATCH')
  const values = fields && toValues(fields, initial)
  return {
    mode: values ? 'form' : 'json',
    values: values ?? {},
    json: toJson(initial),
    idempotencyKey: '',
    ifMatch: '',
    acceptLanguage: '',
    isEdited: false,
    isExample: true,
  }
}

/**
 * Fills the form of a procedure with an input as JSON. With `replaces`, also replaces an edited draft. Returns whether the form is filled.
 */
export function fillDraft(procedure: ProcedureDescription, json: string | null, replaces: boolean) {
  const fields = fieldsOf(procedure.input, procedure.path)
  // A secret that the recording does not have must be entered again.
  const parsed = parseInput((json ?? '').replaceAll(JSON.stringify(REMOVED), '""'))
  // A recorded input that is cut at its limit is no JSON.
  const values = fields && parsed.isValid ? toValues(fields, parsed.input) : undefined
  const next: Draft = {
    ...createDraft(procedure, fields),
    isExample: false,
    mode: values ? 'form' : 'json',
    values: values ?? {},
    json: parsed.isValid ? toJson(parsed.input) : (json ?? ''),
  }
  const previous = drafts.get(procedure.operation)
  const text = previous && textOf(previous, fields)
  const isLost = previous?.isEdited && text !== textOf(next, fields) && text !== previous.sent
  if (isLost && !replaces) return false
  drafts.set(procedure.operation, next)
  return true
}

/** Returns the input of a draft as a text, to compare drafts. */
function textOf(draft: Draft, fields: readonly Field[] | undefined) {
  const parsed = parseDraft(draft, fields)
  return parsed.isValid ? toJson(parsed.input) : draft.json
}

const parseDraft = (draft: Draft, fields: readonly Field[] | undefined) =>
  draft.mode === 'form' && fields ? toInput(fields, draft.values) : parseInput(draft.json)

export interface DraftState {
  draft: Draft
  change: (changes: Partial<Draft>) => void
  /** Undefined if a form cannot show the schema of the input. */
  fields: readonly Field[] | undefined
  parsed: ParsedInput
}

/** Returns the draft of a procedure. The component needs the operation as its key. */
export function useDraft(procedure: ProcedureDescription): DraftState {
  const fields = fieldsOf(procedure.input, procedure.path)
  const [draft, setDraft] = useState(() => drafts.get(procedure.operation) ?? createDraft(procedure, fields))
  const change = (changes: Partial<Draft>) => {
    const next = { ...draft, ...changes }
    drafts.set(procedure.operation, next)
    setDraft(next)
  }
  const parsed = parseDraft(draft, fields)
  return { draft, change, fields, parsed }
}

/** Returns the headers of the call, without empty headers. */
export const headersOf = ({ idempotencyKey, ifMatch, acceptLanguage }: Draft) => ({
  ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
  ...(ifMatch && { 'if-match': ifMatch }),
  ...(acceptLanguage && { 'accept-language': acceptLanguage }),
})
