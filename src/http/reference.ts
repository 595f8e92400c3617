import { htmlEscape } from 'escape-goat'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import absolutePath from 'swagger-ui-dist/absolute-path.js'

import { createDocument } from '../openapi/document.ts'
import { protectPage } from './response-headers.ts'
import { answer, refuseMethod, type Transport } from './protocol.ts'

/** Everything from here: no script, style or picture of anybody else's. */
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

const page = htmlEscape`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Tallystick reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`
const start = `SwaggerUIBundle({ url: '/api/openapi.json', dom_id: '#reference', deepLinking: true, validatorUrl: null })`

const asset = (name: string) => readFile(join(absolutePath(), name))

/** What never changes while the service runs: made when first asked for, then kept. */
const files: Record<string, { type: string; make: () => Promise<string | Buffer> }> = {
  '/api/openapi.json': { type: 'application/json', make: async () => JSON.stringify(await createDocument()) },
  '/docs': { type: 'text/html; charset=utf-8', make: () => Promise.resolve(page) },
  '/docs/start.js': { type: 'text/javascript', make: () => Promise.resolve(start) },
  '/docs/swagger-ui-bundle.js': { type: 'text/javascript', make: () => asset('swagger-ui-bundle.js') },
  '/docs/swagger-ui.css': { type: 'text/css', make: () => asset('swagger-ui.css') },
}

/** The OpenAPI document, and a page to read and try it. */
export function createReference(): Transport {
  const kept = new Map<string, Promise<string | Buffer>>()
  return async ({ method, url, context }, response) => {
    const { pathname } = url()
    const file = files[pathname]
    if (!file) return false
    context.attributes.operation = pathname
    if (method !== 'GET') return refuseMethod(response, ['GET'])
    const made = kept.get(pathname) ?? file.make()
    kept.set(pathname, made)
    const bytes = await made
    protectPage(response)
    response.setHeader('content-security-policy', POLICY)
    response.setHeader('cache-control', 'public, max-age=300')
    return answer(response, 200, bytes, file.type)
  }
}
