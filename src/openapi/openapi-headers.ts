import type { OpenAPI } from '@orpc/openapi'
import { z } from 'zod'

import { IdempotencyKey, type Meta } from '../../contract/base.ts'

const { $schema: _, ...key } = z.toJSONSchema(IdempotencyKey)

const header = (name: string, description: string, schema = {}) => ({
  name,
  in: 'header' as const,
  required: false,
  description,
  schema: { type: 'string' as const, ...schema },
})

const idempotencyKey = header(
  'Idempotency-Key',
  'Makes retries safe: for 24 hours, a request with the same key and the same body receives the first response.',
  key,
)
const ifMatch = header(
  'If-Match',
  'Performs the change only if the current ETag is in this list; `*` matches every existing resource.',
)
const ifNoneMatch = header(
  'If-None-Match',
  'Returns 304, without a body, if the current ETag is in this list.',
)
const etag = { description: 'The current version of the resource.', schema: { type: 'string' } } as const

/** Documents the request and response headers of an operation, as declared in the contract. */
export function addHeaders(
  operation: OpenAPI.OperationObject,
  { creates, changes, tagged }: Meta,
  method?: string,
) {
  const reads = tagged === true && method === 'GET'
  const includeIf = <Item>(condition: boolean | undefined, item: Item) => (condition ? [item] : [])
  const requestHeaders = [
    ...includeIf(creates, idempotencyKey),
    ...includeIf(Boolean(changes), ifMatch),
    ...includeIf(reads, ifNoneMatch),
  ]
  if (requestHeaders.length > 0) operation.parameters = [...(operation.parameters ?? []), ...requestHeaders]
  const responses = (operation.responses ??= {})
  for (const status of [...includeIf(tagged, '200'), ...includeIf(reads, '304')])
    responses[status] = { description: '', ...responses[status], headers: { ETag: etag } }
}
