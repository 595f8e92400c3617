import { htmlEscape } from 'escape-goat'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import absolutePath from 'swagger-ui-dist/absolute-path.js'

import { createDocument } from '../openapi/document.ts'
import type { Endpoint, Endpoints } from './endpoints.ts'
import { setPageHeaders } from './response-headers.ts'
import { answer } from './protocol.ts'

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

/**
 * Files that do not change while the service runs. The service loads a file on the first request for this file, and
 * then caches the file.
 */
const files: Record<string, { type: string; load: () => Promise<string | Buffer> }> = {
  '/api/openapi.json': { type: 'application/json', load: async () => JSON.stringify(await createDocument()) },
  '/docs': { type: 'text/html; charset=utf-8', load: () => Promise.resolve(page) },
  '/docs/start.js': { type: 'text/javascript', load: () => Promise.resolve(start) },
  '/docs/swagger-ui-bundle.js': { type: 'text/javascript', load: () => asset('swagger-ui-bundle.js') },
  '/docs/swagger-ui.css': { type: 'text/css', load: () => asset('swagger-ui.css') },
}

export const createReferenceEndpoints = (): Endpoints =>
  Object.fromEntries(
    Object.entries(files).map(([path, { type, load }]) => {
      let loading: Promise<string | Buffer> | undefined
      const send: Endpoint['answer'] = async (_, response) => {
        const bytes = await (loading ??= load())
        setPageHeaders(response)
        response.setHeader('content-security-policy', POLICY)
        response.setHeader('cache-control', 'public, max-age=300')
        return answer(response, 200, bytes, type)
      }
      return [path, { methods: ['GET'], answer: send }]
    }),
  )
