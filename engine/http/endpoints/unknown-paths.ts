import { matchesPath, parametersOf } from '../../app/paths.ts'
import type { Protocol } from '../server/protocol.ts'
import { isNavigation } from '../server/request.ts'
import type { Services } from '../server/services.ts'
import type { BuiltInEndpoints } from './endpoints.ts'
import { createNotFoundPage } from './files.ts'

/**
 * Creates the answer for a path that no protocol has: the page for the path of a view with parameters, and a page with status 404
 * for a browser that opens another path. Other callers receive JSON, as do browsers if the application has no page.
 */
export function createUnknownPaths(
  { developerEndpoints }: Pick<Services, 'developerEndpoints'>,
  builtIn: BuiltInEndpoints,
): Protocol {
  const views = Object.entries(builtIn).filter(([path]) => parametersOf(path).length > 0)
  const page = createNotFoundPage('app', { isDevelopment: developerEndpoints !== undefined })
  return async (call, response) => {
    const view = call.method === 'GET' ? views.find(([path]) => matchesPath(call.path, path)) : undefined
    if (!view)
      return page !== undefined && isNavigation(call.request, call.path) && page.answer(call, response)
    const [path, endpoint] = view
    call.context.attributes.operation = path
    return endpoint.answer(call, response)
  }
}
