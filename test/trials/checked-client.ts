import { ORPCError } from '@orpc/client'
import { traverseContractProcedures } from '@orpc/server'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'

import { decodeErrorBody } from '../../engine/contract/errors.ts'
import { contract } from '../../contract/index.ts'
import { hasDocumentedFormat } from './protocol-checks.ts'

export interface OperationRecord {
  operation: string
  /** `OK`, the code of the error response, or `BROKEN` if there was no response. */
  code: string
  /** In epoch milliseconds. */
  endedAt: number
  /** In milliseconds. */
  duration: number
}

/** If `code` is `OK`, `value` is the output. Otherwise, `message` describes the error. */
export interface Result<Value> {
  code: string
  value?: Value
  message?: string
}

/** The operations and faults of all actors. */
export interface Recording {
  operations: OperationRecord[]
  /** Number of operations with the code `OK`. */
  succeeded: number
  faults: string[]
  /** Maps each private word (marker, id or token) to the marker of its actor. */
  owners: Map<string, string>
}

/** Response schemas of operations outside the contract. The code below adds the schemas of the contract. */
const schemas = new Map<string, z.ZodType>(
  Object.entries({
    'code.send': z.strictObject({ success: z.literal(true) }),
    'code.enter': z.strictObject({
      token: z.string(),
      user: z.looseObject({ id: z.string(), email: z.string() }),
    }),
    'app.register': z.looseObject({ client_id: z.string(), client_name: z.string() }),
    'app.consent': z.strictObject({ code: z.string(), state: z.string(), iss: z.string() }),
    'app.redeem': tokens(),
    'app.refresh': tokens(),
    'app.revoke': z.strictObject({}),
  }),
)
traverseContractProcedures({ router: contract, path: [] }, ({ contract: { '~orpc': declared }, path }) => {
  if (declared.outputSchema) schemas.set(path.join('.'), declared.outputSchema as z.ZodType)
})

function tokens() {
  return z.strictObject({
    access_token: z.string(),
    refresh_token: z.string(),
    expires_in: z.int(),
    token_type: z.literal('Bearer'),
    scope: z.literal('read write'),
  })
}

/** The error code of any operation while the database is unreachable. */
const OUTAGE = 'SERVICE_UNAVAILABLE'

/** Longer than any time limit of the service, in milliseconds. */
const TIMEOUT = 60_000

const WORD = /[\w-]{16,}/g

/**
 * Creates a client that records each operation and its duration, and checks each response. A response must match its
 * schema, and must not contain private words of other actors. Exception: the actor shares notes with the actor
 * `friend`, so responses of operations on notes and accounts may contain private words of `friend`. An actor must send
 * its requests sequentially, because `current` stores only one operation.
 */
export function createCheckedClient(recording: Recording, marker: string, friend: string) {
  let current = ''

  function checkWords(text: string) {
    const disclosed = new Set(
      (text.match(WORD) ?? []).flatMap((word) => {
        const owner = recording.owners.get(word)
        const isAllowed = owner === undefined || owner === marker
        return isAllowed || (owner === friend && /^(notes|account)\./.test(current)) ? [] : [word]
      }),
    )
    if (disclosed.size > 0)
      recording.faults.push(`${current} disclosed to ${marker}: ${[...disclosed].join(' ')}`)
  }

  const checkedFetch: typeof fetch = async (input, init) => {
    const response = await fetch(input, { ...init, signal: AbortSignal.timeout(TIMEOUT) })
    const { status, headers } = response
    const body = await response.text()
    checkWords(`${body} ${headers.get('location') ?? ''}`)
    if (!hasDocumentedFormat({ status, headers, body }))
      recording.faults.push(`${current} answered ${status} in an undocumented format: ${body.slice(0, 300)}`)
    return new Response(body || null, { status, headers })
  }

  /** Executes one operation. Records a fault if the code is neither `OK` nor SERVICE_UNAVAILABLE nor in `expected`. */
  async function attempt<Value>(
    operation: string,
    send: () => Promise<Value>,
    expected: readonly string[] = [],
  ): Promise<Result<Value>> {
    current = operation
    const start = Date.now()
    const result: Result<Value> = await send().then((value) => ({ code: 'OK', value }), failureOf)
    const endedAt = Date.now()
    const { code, message = '' } = result
    recording.operations.push({ operation, code, endedAt, duration: endedAt - start })
    if (code === 'OK') {
      recording.succeeded++
      checkSchema(operation, result.value)
    } else if (code !== OUTAGE && !expected.includes(code))
      recording.faults.push(
        `${operation} of ${marker} failed after ${endedAt - start} ms: ${code} ${message}`,
      )
    return result
  }

  function checkSchema(operation: string, value: unknown) {
    const schema = schemas.get(operation.replace(/^agent\./, ''))
    if (!schema) throw new Error(`There is no schema for ${operation}`)
    const { data, error } = schema.safeParse(value)
    if (error || !isDeepStrictEqual(data, value))
      recording.faults.push(`${operation} violates its schema: ${JSON.stringify(value).slice(0, 300)}`)
  }

  function addFault(text: string) {
    recording.faults.push(`${marker}: ${text}`)
  }

  return { attempt, fetch: checkedFetch, addFault }
}

export type CheckedClient = ReturnType<typeof createCheckedClient>

const OAuthError = z.object({ error: z.string() })

/** Converts an error response to the error that the typed client throws. */
export function errorOf(status: number, body: unknown) {
  // A page for apps has no code.
  const codeOfPage = status === 503 ? 'SERVICE_UNAVAILABLE' : `status ${status}`
  const code = OAuthError.safeParse(body).data?.error ?? codeOfPage
  return decodeErrorBody(body) ?? new ORPCError(code, { message: JSON.stringify(body) })
}

function failureOf(error: unknown) {
  if (error instanceof ORPCError) return { code: String(error.code), message: error.message }
  return {
    code: 'BROKEN',
    message: String(error instanceof Error && error.cause instanceof Error ? error.cause : error),
  }
}
