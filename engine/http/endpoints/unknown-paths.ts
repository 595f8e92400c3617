import type { Protocol } from '../server/protocol.ts'
import { isNavigation } from '../server/request.ts'
import { createNotFoundPage } from './files.ts'

/**
 * Creates the answer to a browser that opens an unknown path: a page with status 404. Other callers receive JSON, as do
 * browsers if the application has no page.
 */
export function createUnknownPaths(): Protocol {
  const page = createNotFoundPage('app')
  return async (call, response) =>
    page !== undefined && isNavigation(call.request, call.path) && page.answer(call, response)
}
