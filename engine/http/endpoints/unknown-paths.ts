import { matchesPath, parametersOf } from '../../app/paths.ts'
import type { Protocol } from '../server/protocol.ts'
import { isNavigation } from '../server/request.ts'
import type { Services } from '../server/services.ts'
import type { BuiltInEndpoints } from './endpoints.ts'
import { createNotFoundPage } from './files.ts'

/**
 * Creates the answer for a path that no protocol has: the page for the path of a view with parameters, and a page with status 404
 * for a browser that opens another path. Otherwise returns false: the server then answers with JSON.
 */
export function createUnknownPaths(
  { developerEndpoints }: Pick<Services, 'developerEndpoints'>,
  builtIn: BuiltInEndpoints,
): Protocol {
  const views = Object.entries(builtIn).filter(([path]) => parametersOf(path).length > 0)
  const notFoundPage = createNotFoundPage('app', { isDevelopment: developerEndpoints !== undefined })
  return async (call, response) => {
    const view = call.method === 'GET' ? views.find(([path]) => matchesPath(call.path, path)) : undefined
    if (!view)
      return (
        notFoundPage !== undefined &&
        isNavigation(call.request, call.path) &&
        notFoundPage.answer(call, response)
      )
    const [path, endpoint] = view
    call.context.attributes.operation = path
    return endpoint.answer(call, response)
  }
}
