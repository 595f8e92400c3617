import { z } from 'zod'

import { ErrorBody } from '../../contract/errors.ts'
import type { Answer, Step, Talk } from './raw-http.ts'

/** What is said to the service, and what is due for it. */
export interface Said {
  kind: string
  steps: Step[]
  /** How many answers: at least, at most. */
  due: [least: number, most: number]
  /** The service ends the connection after it. */
  isLast?: true
  /** It must be refused. */
  isRefused?: true
  /** It asks for the head of an answer alone. */
  isHead?: boolean
}

const Envelope = z.object({
  json: z.object({ defined: z.boolean(), code: z.string(), status: z.int(), message: z.string() }),
})
const OAuthError = z.object({ error: z.string(), error_description: z.string() })
const JsonRpcError = z.object({
  jsonrpc: z.literal('2.0'),
  error: z.object({ code: z.int(), message: z.string() }),
})

/** The one error body; and where another standard rules, its own. */
const Refusal = z.union([ErrorBody.strict(), Envelope.strict(), OAuthError.strict(), JsonRpcError])

/** All that is wrong with how the service answered. `secrets` are what must not be told to whoever asked. */
export function faultsOf(
  { due: [least, most], isLast, isRefused, isHead }: Said,
  talk: Talk,
  secrets: string[],
) {
  const { answers, rest, closed } = talk
  const isGiven = answers.length >= least
  const faults = {
    'was left hanging': !isGiven && !closed,
    'was closed without an answer': !isGiven && closed,
    'was answered too often': answers.length > most,
    'was answered in part': rest !== '' && !isHead,
    'was left open': isGiven && isLast && !closed,
    'was not refused': isRefused && !answers.every(({ status }) => status >= 400),
    'was answered by a failure': answers.some(({ status }) => status >= 500),
    'was refused in a shape of its own': !isHead && !answers.every(isInShape),
    'was told what is another’s': answers.some(({ body, headers }) =>
      secrets.some((secret) => body.includes(secret) || [...headers.values()].join().includes(secret)),
    ),
  }
  return Object.entries(faults).flatMap(([fault, isTrue]) => (isTrue ? [fault] : []))
}

export function isInShape({ status, headers, body }: Answer) {
  const type = headers.get('content-type') ?? ''
  if (status < 400) return true
  // The pages on which a person lets an app in.
  if (type.startsWith('text/html')) return status === 400
  return type.startsWith('application/json') && Refusal.safeParse(parse(body)).data !== undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
