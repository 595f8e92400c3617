import { EventDecoderStream } from '@orpc/standard-server'

import type { CallResult } from '../../engine/console/contract.ts'
import type { ProcedureDescription } from '../../engine/openapi/procedure-description.ts'
import { isRecord } from '../console/procedures/schema.ts'
import { toRequest } from '../console/procedures/snippets.ts'

/** Maximum length of the body that the page shows, in characters. */
const MAX_BODY = 262_144

interface Options {
  procedure: ProcedureDescription
  input: unknown
  /** Without a token, the browser sends the cookie of its session. */
  token: string | undefined
  headers: Readonly<Record<string, string>>
}

/** Whether a call only reads. */
export const isRead = ({ method }: ProcedureDescription) => method === 'GET'

/** Sends the request of a call to this service over REST. */
async function send({ procedure, input, token, headers }: Options, accept: string, signal?: AbortSignal) {
  const { method, mediaType } = procedure
  const { path, query, body } = toRequest(procedure, input)
  const url = location.origin + path + (query && `?${query}`)
  const sent = body === undefined ? null : JSON.stringify(body)
  const start = performance.now()
  const response = await fetch(url, {
    method,
    cache: 'no-store',
    credentials: token === undefined ? 'same-origin' : 'omit',
    headers: {
      ...headers,
      accept: mediaType ?? accept,
      ...(sent !== null && { 'content-type': mediaType ?? 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: sent,
    signal: signal ?? null,
  })
  const readAnswer = async (): Promise<CallResult> => {
    const text = await response.text()
    return {
      request: { method, url, body: sent },
      status: response.status,
      duration: performance.now() - start,
      headers: [...response.headers],
      body: text.slice(0, MAX_BODY),
      isCut: text.length > MAX_BODY,
      error: response.ok ? null : errorOf(parse(text)),
    }
  }
  return { response, readAnswer }
}

/** Calls a procedure. */
export const callProcedure = async (options: Options) =>
  (await send(options, 'application/json')).readAnswer()

/** An event of a stream, cut at a limit. */
export interface StreamEvent {
  time: number
  data: string
}

/**
 * Calls a procedure whose answer is a stream. Resolves when the service or the signal ends the stream: with the answer if the service
 * has refused the call.
 */
export async function watchProcedure(
  options: Options,
  signal: AbortSignal,
  onEvent: (event: StreamEvent) => void,
) {
  try {
    const { response, readAnswer } = await send(options, 'text/event-stream', signal)
    if (!response.ok || !response.body) return await readAnswer()
    const texts = response.body.pipeThrough(new TextDecoderStream())
    const reader = texts.pipeThrough(new EventDecoderStream()).getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return undefined
      // The service sends comments to keep the connection open.
      if (value.data) onEvent({ time: Date.now(), data: value.data.slice(0, MAX_BODY) })
    }
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function errorOf(body: unknown): CallResult['error'] {
  if (!isRecord(body) || typeof body.code !== 'string') return null
  return { code: body.code, message: String(body.message), isDefined: body.defined === true }
}

/** Returns the issues of the input in an answer that refuses the input. */
export function issuesIn({ status, body }: CallResult) {
  const parsed = status === 400 ? parse(body) : undefined
  const data = isRecord(parsed) ? parsed.data : undefined
  const issues: readonly unknown[] = isRecord(data) && Array.isArray(data.issues) ? data.issues : []
  return issues
    .filter((issue) => isRecord(issue))
    .map(({ path, message }) => ({ path: String(path), message: String(message) }))
}
