import type { Settings } from '../../settings/settings.ts'
import type { App } from '../../app/resource.ts'
import { createDocument } from '../../openapi/document.ts'
import { compressors } from '../server/send.ts'
import type { BuiltInEndpoints } from './endpoints.ts'
import { createFileEndpoint, createPageEndpoints, notBuilt } from './files.ts'

/** Creates the endpoints of the OpenAPI document and of the reference page, which shows the document. */
export function createReferenceEndpoints({
  app,
  settings: { baseUrl },
}: {
  app: App
  settings: Settings
}): BuiltInEndpoints {
  const loadDocument = async () => Buffer.from(JSON.stringify(await createDocument(app, baseUrl)))
  return {
    '/api/openapi.json': createFileEndpoint({
      type: 'application/json',
      cacheControl: 'public, max-age=300',
      load: async (coding) => {
        const document = await loadDocument()
        return coding ? compressors[coding](document) : document
      },
    }),
    // The built page, if there is one, replaces this endpoint.
    '/docs': notBuilt,
    ...createPageEndpoints('docs', '/docs'),
  }
}
