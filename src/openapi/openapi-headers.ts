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
  'Makes it safe to send the request again: for 24 hours the same key with the same body gets the first answer.',
  key,
)
const ifMatch = header('If-Match', 'Does it only if the ETag is among these still; `*` if there is any.')
const ifNoneMatch = header('If-None-Match', 'Answers 304, without a body, if the ETag is among these.')
const etag = { description: 'The state that it is in.', schema: { type: 'string' } } as const

/** Tells of the headers that an operation heeds and answers, by what its contract declares. */
export function addHeaders(
  operation: OpenAPI.OperationObject,
  { creates, changes, tagged }: Meta,
  method?: string,
) {
  const reads = tagged === true && method === 'GET'
  const only = <Each>(given: boolean | undefined, each: Each) => (given ? [each] : [])
  const heeded = [
    ...only(creates, idempotencyKey),
    ...only(Boolean(changes), ifMatch),
    ...only(reads, ifNoneMatch),
  ]
  if (heeded.length > 0) operation.parameters = [...(operation.parameters ?? []), ...heeded]
  const responses = (operation.responses ??= {})
  for (const status of [...only(tagged, '200'), ...only(reads, '304')])
    responses[status] = { description: '', ...responses[status], headers: { ETag: etag } }
}
