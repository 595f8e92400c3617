import { homePage } from '../../html/home.ts'
import { contentSecurityPolicy } from '../../html/page.ts'
import { setPageHeaders } from '../server/send.ts'
import type { Services } from '../server/services.ts'
import { MCP } from '../server/protocol.ts'
import type { BuiltInEndpoints } from './endpoints.ts'
import { createFileEndpoint, createPageEndpoints } from './files.ts'

/** Creates the endpoints of the page of the application. Without a built page, `/` shows links to the documentation. */
export function createHomeEndpoints({
  app,
  settings: { baseUrl },
  developerEndpoints,
}: Pick<Services, 'app' | 'settings' | 'developerEndpoints'>): BuiltInEndpoints {
  const links = createFileEndpoint({
    type: 'text/html; charset=utf-8',
    cacheControl: 'no-cache',
    // There is no compressed form.
    load: (contentCoding) =>
      contentCoding ? undefined : Promise.resolve(Buffer.from(homePage(app, baseUrl + MCP))),
    setHeaders: (response) => {
      setPageHeaders(response)
      response.setHeader('content-security-policy', contentSecurityPolicy())
    },
  })
  return {
    '/': links,
    ...createPageEndpoints('app', '/', { isDevelopment: developerEndpoints !== undefined }),
  }
}
