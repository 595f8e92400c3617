import { createDocument } from '../openapi/document.ts'
import { compressors } from './compression.ts'
import type { Endpoints } from './endpoints.ts'
import { createFileEndpoint, createPageEndpoints } from './files.ts'

/**
 * The Content-Security-Policy of the reference page. Allows scripts, styles and images only from this service, and
 * images in `data:` URLs.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Creates the endpoints of the OpenAPI document and of the reference page, which shows the document. */
export function createReferenceEndpoints(): Endpoints {
  const loadDocument = async () => Buffer.from(JSON.stringify(await createDocument()))
  return {
    '/api/openapi.json': createFileEndpoint({
      type: 'application/json',
      cacheControl: 'public, max-age=300',
      load: async (coding) => {
        const document = await loadDocument()
        return coding ? compressors[coding](document) : document
      },
    }),
    ...createPageEndpoints('docs', POLICY),
  }
}
