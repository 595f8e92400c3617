import type { Settings } from '../../settings/settings.ts'
import type { App } from '../../app/resource.ts'
import { createDocument } from '../../openapi/document.ts'
import { createReference } from '../../openapi/reference.ts'
import { compressors } from '../server/send.ts'
import type { BuiltInEndpoints } from './endpoints.ts'
import { createFileEndpoint, createPageEndpoints, notBuilt } from './files.ts'

/** Creates the endpoint of a document as JSON, which is made on the first request. */
const createJsonEndpoint = (create: () => object | Promise<object>) =>
  createFileEndpoint({
    type: 'application/json',
    cacheControl: 'public, max-age=300',
    load: async (coding) => {
      const document = Buffer.from(JSON.stringify(await create()))
      return coding ? compressors[coding](document) : document
    },
  })

/** Creates the endpoints of the OpenAPI document, and of the reference page with its document. */
export const createReferenceEndpoints = ({
  app,
  settings: { baseUrl },
}: {
  app: App
  settings: Settings
}): BuiltInEndpoints => ({
  '/api/openapi.json': createJsonEndpoint(() => createDocument(app, baseUrl)),
  '/docs/reference.json': createJsonEndpoint(() => createReference(app, baseUrl)),
  // The built page, if there is one, replaces this endpoint.
  '/docs': notBuilt,
  ...createPageEndpoints('docs', '/docs'),
})
