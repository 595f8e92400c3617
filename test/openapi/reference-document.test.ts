import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'

import { findUndocumented } from '../../engine/test/fixtures/reference-difference.ts'
import { app } from '../../src/app.ts'
import { startService } from '../fixtures/service.ts'

const service = await startService()

describe('/docs/reference.json', () => {
  test('says nothing that the OpenAPI document and the contract do not say', async () => {
    expect(await findUndocumented(app)).toEqual([])
  })

  test('is cached like the OpenAPI document, with an entity tag of its own', async () => {
    const [document, reference] = await Promise.all(
      ['/api/openapi.json', '/docs/reference.json'].map((path) => fetch(service.origin + path)),
    )
    const cacheControl = document?.headers.get('cache-control')
    const etag = reference?.headers.get('etag') ?? ''
    const repeated = await fetch(`${service.origin}/docs/reference.json`, {
      headers: { 'if-none-match': etag },
    })

    expect(reference?.headers.get('cache-control')).toBe(cacheControl)
    expect(reference?.headers.get('content-type')).toBe('application/json')
    expect(repeated.status).toBe(304)
  })

  test('is small', async () => {
    const response = await fetch(`${service.origin}/docs/reference.json`)

    expect(gzipSync(await response.text()).length).toBeLessThan(20_000)
  })
})
