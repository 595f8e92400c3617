import type { TraverseContractProcedureCallbackOptions } from '@orpc/server'
import type { IncomingHttpHeaders } from 'node:http'

import { type Meta, metaOf } from '../../contract/base.ts'
import { firstFormMediaType } from '../../contract/legacy-notes.ts'
import { parseAccept, preferredMediaType } from './accept.ts'

/**
 * Notes have two forms on the same paths: the first form (integer ids) and the second (UUIDs, sharing, permissions).
 * This file decides which form answers a request, for every protocol over HTTP.
 */
export type Form = 1 | 2

/**
 * Returns whether a Datastar page sent the request: the request has the header `Datastar-Request: true`, or its
 * `Accept` header prefers `text/event-stream`.
 */
export const isDatastar = (headers: IncomingHttpHeaders) =>
  hasDatastarHeader(headers) || prefersEvents(headers)

export const hasDatastarHeader = (headers: IncomingHttpHeaders) => headers['datastar-request'] === 'true'

const prefersEvents = ({ accept = '' }: IncomingHttpHeaders) => {
  if (!mentions(accept, 'event-stream')) return false
  const [first] = parseAccept(accept).sort((a, b) => b.weight - a.weight)
  return first?.type === 'text/event-stream' && first.weight > 0
}

interface FormRequest {
  request: { headers: IncomingHttpHeaders }
  body: Record<string, unknown> | undefined
}

/**
 * Returns the form of notes for a request. The first form is used in four cases: `Accept` prefers its media type, a
 * Datastar page sent the request, the body has its media type, or the body contains `newNote` and no `title`.
 * Otherwise, the second form is used.
 */
export const formOf = ({ request: { headers }, body }: FormRequest): Form =>
  prefersFirstForm(headers) || isDatastar(headers) || isFirstFormBody(headers, body) ? 1 : 2

/** The second form precedes the first, so that the second form is used if both have the same weight. */
const FORMS = ['application/json', firstFormMediaType]

const prefersFirstForm = ({ accept = '' }: IncomingHttpHeaders) =>
  mentions(accept, 'version') && preferredMediaType(accept, FORMS) === firstFormMediaType

/**
 * Returns whether `Accept` contains a word. This test is much faster than parsing the header, and almost no request
 * needs the parsed header.
 */
const mentions = (accept: string, word: string) => accept.toLowerCase().includes(word)

const isFirstFormBody = ({ 'content-type': type = '' }: IncomingHttpHeaders, body: FormRequest['body']) =>
  body !== undefined &&
  (/;\s*version="?1"?\s*(?:;|$)/i.test(type) || ('newNote' in body && !('title' in body)))

/**
 * Returns a filter that selects the procedures of a form. Procedures that do not declare a form belong to both forms.
 */
export const hasForm =
  (form: Form) =>
  ({ contract }: TraverseContractProcedureCallbackOptions) =>
    (metaOf(contract).form ?? form) === form

/** Returns the content type of the first form. Undefined for procedures that answer plain `application/json`. */
export const contentTypeOf = ({ form }: Meta) => (form === 1 ? firstFormMediaType : undefined)
