import { isObject } from '@orpc/shared'
import { ORPCError } from '@orpc/server'
import { createRestClient } from 'tallystick-contract/internal'

import type { CallerChoice, CallResult } from './contract.ts'
import type { Credentials, Headers } from './credentials.ts'
import type { ServiceParts } from './people.ts'

/** Time limit of a call, in milliseconds. */
const TIMEOUT = 20_000

/** Maximum length of the body of an answer that the console shows, in characters. */
const MAX_BODY = 262_144

export interface ConsoleCall {
  operation: string
  input?: unknown
  caller: CallerChoice
  headers: Headers
}

/** Creates the function that calls the service over REST, as any REST client does. */
export function createCalls({ app, settings: { baseUrl } }: ServiceParts, credentials: Credentials) {
  const { origin } = credentials
  const send = async ({ operation, input, caller, headers }: ConsoleCall): Promise<CallResult> => {
    const credentialHeaders = await credentials.headersOf(caller)
    // Recorded in `fetch`, because the client returns only the decoded output, without status and headers.
    let result: CallResult | undefined
    const client: unknown = createRestClient(app.contract, origin, {
      headers: { ...headers, ...credentialHeaders },
      fetch: async (request, init) => {
        const start = performance.now()
        const sent = request instanceof Request ? request : new Request(request)
        // Copies, because `fetch` and the client read the originals.
        const body = await sent.clone().text()
        const response = await fetch(sent, {
          ...init,
          // Shows a redirect as the answer.
          redirect: 'manual',
          signal: AbortSignal.timeout(TIMEOUT),
        })
        const text = await response.clone().text()
        result = {
          request: {
            method: sent.method,
            url: sent.url.replace(origin, baseUrl),
            body: body === '' ? null : body,
          },
          status: response.status,
          duration: performance.now() - start,
          headers: [...response.headers],
          body: text.slice(0, MAX_BODY),
          isCut: text.length > MAX_BODY,
          error: response.ok ? null : errorOf(text),
        }
        return response
      },
    })
    const procedure = operation
      .split('.')
      .reduce<unknown>((member, name) => Reflect.get(Object(member), name), client)
    try {
      await (procedure as (input: unknown) => Promise<unknown>)(input)
    } catch (error) {
      // With an answer, the error of the client is part of the result. Without an answer, the service has closed the connection,
      // or the call took too long.
      if (!result)
        throw new ORPCError('BAD_REQUEST', {
          message: error instanceof Error ? error.message : String(error),
        })
    }
    if (!result) throw new ORPCError('BAD_REQUEST', { message: 'The call has no answer' })
    return result
  }

  return async (call: ConsoleCall): Promise<CallResult> => {
    const { caller } = call
    const result = await send(call)
    if (result.status !== 401 || caller.person === null) return result
    // The session or the token has ended, for example by a revocation.
    credentials.forget(caller)
    return send(call)
  }
}

function errorOf(text: string): CallResult['error'] {
  try {
    const body: unknown = JSON.parse(text)
    if (!isObject(body) || typeof body.code !== 'string') return null
    return { code: body.code, message: String(body.message), isDefined: body.defined === true }
  } catch {
    return null
  }
}
