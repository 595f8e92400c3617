import { ORPCError } from '@orpc/client'
import { traverseContractProcedures } from '@orpc/server'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'

import { contract } from '../../contract/index.ts'
import { fromErrorBody } from '../../contract/errors.ts'
import { isInShape } from './protocol-checks.ts'

/** A failure of a request without an answer is `BROKEN`. */
export interface Entry {
  operation: string
  /** `OK`, or the code of the error. */
  code: string
  /** When the request ended, in epoch milliseconds. */
  at: number
  /** In milliseconds. */
  took: number
}

/** What a request came to: a value if the code is `OK`, else what the error told. */
export interface Result<Value> {
  code: string
  value?: Value
  told?: string
}

/** What is noted of all requests. */
export interface Book {
  entries: Entry[]
  /** Requests that succeeded. */
  succeeded: number
  faults: string[]
  /** Whose a word is that only one person may be shown: marks, ids, tokens. */
  owners: Map<string, string>
}

/** The answers of operations that the contract does not have. Those of the contract are added below. */
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

/** Codes that any operation may answer while connections to the database are cut. */
const OUTAGE = 'SERVICE_UNAVAILABLE'

/** Longer than any limit of the service, in milliseconds. */
const PATIENCE = 60_000

const WORD = /[\w-]{16,}/g

/**
 * One person's way to the service. Each answer is checked: its time, its schema, the words in it. The person sends one
 * request after another. `friend` is the mark of the person whose notes this person may see.
 */
export function createWitness(book: Book, mark: string, friend: string) {
  let current = ''

  function checkWords(text: string) {
    const strangers = new Set(
      (text.match(WORD) ?? []).flatMap((word) => {
        const owner = book.owners.get(word)
        const mayShow = owner === undefined || owner === mark
        return mayShow || (owner === friend && /^(notes|account)\./.test(current)) ? [] : [word]
      }),
    )
    if (strangers.size > 0) book.faults.push(`${current} told ${mark} of ${[...strangers].join(' ')}`)
  }

  const checkedFetch: typeof fetch = async (input, init) => {
    const response = await fetch(input, { ...init, signal: AbortSignal.timeout(PATIENCE) })
    const { status, headers } = response
    const body = await response.text()
    checkWords(`${body} ${headers.get('location') ?? ''}`)
    if (!isInShape({ status, headers, body }))
      book.faults.push(`${current} answered ${status} in no known shape: ${body.slice(0, 300)}`)
    return new Response(body || null, { status, headers })
  }

  /** Sends one request. Any code but OK, an outage and the expected ones is a fault. */
  async function attempt<Value>(
    operation: string,
    send: () => Promise<Value>,
    expected: readonly string[] = [],
  ): Promise<Result<Value>> {
    current = operation
    const start = Date.now()
    const result: Result<Value> = await send().then((value) => ({ code: 'OK', value }), failed)
    const at = Date.now()
    const { code, told = '' } = result
    book.entries.push({ operation, code, at, took: at - start })
    if (code === 'OK') {
      book.succeeded++
      checkSchema(operation, result.value)
    } else if (code !== OUTAGE && !expected.includes(code))
      book.faults.push(`${operation} of ${mark} failed after ${at - start} ms: ${code} ${told}`)
    return result
  }

  function checkSchema(operation: string, value: unknown) {
    const schema = schemas.get(operation.replace(/^agent\./, ''))
    if (!schema) throw new Error(`No schema is known for ${operation}`)
    const { data, error } = schema.safeParse(value)
    if (error || !isDeepStrictEqual(data, value))
      book.faults.push(`${operation} broke its schema: ${JSON.stringify(value).slice(0, 300)}`)
  }

  function fault(text: string) {
    book.faults.push(`${mark}: ${text}`)
  }

  return { attempt, fetch: checkedFetch, fault }
}

export type Witness = ReturnType<typeof createWitness>

/** An OAuth error has a code of its own. */
const OAuthError = z.object({ error: z.string() })

/** The error that a body stands for. */
export function errorOf(status: number, body: unknown) {
  const code = OAuthError.safeParse(body).data?.error ?? `status ${status}`
  return fromErrorBody(body) ?? new ORPCError(code, { message: JSON.stringify(body) })
}

function failed(error: unknown) {
  if (error instanceof ORPCError) return { code: String(error.code), told: error.message }
  return {
    code: 'BROKEN',
    told: String(error instanceof Error && error.cause instanceof Error ? error.cause : error),
  }
}
