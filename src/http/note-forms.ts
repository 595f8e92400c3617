import type { IncomingHttpHeaders } from 'node:http'

import type { Meta } from '../../contract/meta.ts'
import { firstFormMediaType } from '../../contract/legacy-notes.ts'
import { preferredMediaType } from './accept.ts'
import { isDatastar } from './datastar-events.ts'
import type { Call } from './protocol.ts'

// Notes have two forms on the same paths: the first form (integer ids) and the second (UUIDs, sharing, permissions).
// This file decides which form answers a request over REST.

/**
 * Returns whether a request uses the first form of notes. The first form is used in four cases: `Accept` prefers its
 * media type, a Datastar page sent the request, the body has its media type, or the body contains `newNote` and no
 * `title`. Otherwise, the second form is used.
 */
export const isFirstForm = ({ request: { headers }, body }: Pick<Call, 'request' | 'body'>) =>
  prefersFirstForm(headers) || isDatastar(headers) || isFirstFormBody(headers, body)

/** The second form precedes the first, so that the second form is used if both have the same weight. */
const FORMS = ['application/json', firstFormMediaType]

const prefersFirstForm = ({ accept = '' }: IncomingHttpHeaders) =>
  preferredMediaType(accept, FORMS) === firstFormMediaType

const isFirstFormBody = ({ 'content-type': type = '' }: IncomingHttpHeaders, body: Call['body']) =>
  body !== undefined &&
  (/;\s*version="?1"?\s*(?:;|$)/i.test(type) || ('newNote' in body && !('title' in body)))

/** Returns the content type of the first form. Undefined for procedures that answer plain `application/json`. */
export const contentTypeOf = ({ form }: Meta) => (form === 1 ? firstFormMediaType : undefined)
