import type { IncomingMessage } from 'node:http'

import { preferredMediaType } from './accept.ts'
import { createNotFoundPage } from '../endpoints/files.ts'
import type { Protocol } from './protocol.ts'
import type { Target } from './target.ts'

/** Paths of programs, which receive errors as JSON. */
const PROGRAMS = /^\/(api|rpc|mcp|\.well-known|assets)(\/|$)/

/** Returns whether a browser opens a path. */
const isNavigation = ({ method, headers: { accept = '' } }: IncomingMessage, path: string) =>
  (method === 'GET' || method === 'HEAD') &&
  !PROGRAMS.test(path) &&
  preferredMediaType(accept, ['application/json', 'text/html']) === 'text/html'

/** Returns the target of a redirect for a browser that opens a path with a slash at its end. */
export const redirectOf = (request: IncomingMessage, { path, withoutSlash }: Target) =>
  withoutSlash !== undefined && isNavigation(request, path) ? withoutSlash : undefined

/**
 * Creates the answer to a browser that opens an unknown path: a page with status 404. Other callers receive JSON, as do
 * browsers if the application has no page.
 */
export function createUnknownPaths(): Protocol {
  const page = createNotFoundPage('app')
  return async (call, response) =>
    page !== undefined && isNavigation(call.request, call.path) && page.answer(call, response)
}
