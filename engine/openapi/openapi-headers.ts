import type { OpenAPI } from '@orpc/openapi'
import { z } from 'zod'
import { IdempotencyKey, type Meta, type Topic } from 'tallystick-contract/internal'

const { $schema: _, ...keySchema } = z.toJSONSchema(IdempotencyKey)

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
  { ...keySchema, examples: ['4b1d7f0e-add-task'] },
)
const ifMatch = header(
  'If-Match',
  'Performs the change only if the current ETag is in this list, also in its weak form; `*` matches every existing resource.',
  { examples: ['"1"'] },
)
const ifNoneMatch = header(
  'If-None-Match',
  'Returns 304, without a body, if the current ETag is in this list.',
  { examples: ['"1"'] },
)
const lastEventId = ([topic]: readonly Topic[]) =>
  header('Last-Event-ID', 'Continues a stream: the `id` of the last event that the client received.', {
    ...(topic && { examples: [`${topic.name}=c2zL8kJb0xQe`] }),
  })
const link: OpenAPI.HeaderObject = {
  description: 'URL of the next page, if there is one: `<…?limit=…&cursor=…>; rel="next"` (RFC 8288).',
  schema: { type: 'string' },
}
const retryAfter: Record<string, OpenAPI.HeaderObject> = {
  'Retry-After': { description: 'Seconds until the next accepted request.', schema: { type: 'integer' } },
}
const limitHeaders: Record<string, OpenAPI.HeaderObject> = {
  ...retryAfter,
  RateLimit: {
    description: 'The limit, remaining requests (`r`) and seconds until the reset (`t`).',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': {
    description: 'The limit: requests (`q`) in a window of seconds (`w`).',
    schema: { type: 'string' },
  },
}
const etag = { description: 'The current version of the resource.', schema: { type: 'string' } } as const

/** Documents the request and response headers of an operation, as declared in the contract. */
export function addHeaders(
  operation: OpenAPI.OperationObject,
  { isStream, ...meta }: Meta & { isStream: boolean },
  method?: string,
) {
  const isReadWithTag = meta.etag === true && method === 'GET'
  const includeIf = <Item>(condition: boolean | undefined, item: Item) => (condition ? [item] : [])
  const requestHeaders = [
    ...includeIf(meta.idempotencyKey, idempotencyKey),
    ...includeIf(Boolean(meta.ifMatch), ifMatch),
    ...includeIf(isReadWithTag, ifNoneMatch),
    ...includeIf(isStream, lastEventId(meta.watches ?? [])),
  ]
  if (requestHeaders.length > 0) operation.parameters = [...(operation.parameters ?? []), ...requestHeaders]
  const isPaginated = operation.parameters?.some((given) => 'name' in given && given.name === 'cursor')
  const responseHeaders = [
    ...includeIf(meta.etag, ['200', { ETag: etag }] as const),
    ...includeIf(isReadWithTag, ['304', { ETag: etag }] as const),
    ...includeIf(isPaginated, ['200', { Link: link }] as const),
    ...includeIf(Boolean(meta.rateLimit), ['429', limitHeaders] as const),
    ...includeIf(isStream, ['429', retryAfter] as const),
  ]
  const responses = (operation.responses ??= {})
  for (const [status, headers] of responseHeaders)
    responses[status] = { description: '', ...responses[status], headers }
}
