import { ORPCError } from '@orpc/client'

import type { BodyKind } from '../../app/endpoint.ts'
import { streamBody, type TrackIncomplete } from '../server/body-reader.ts'
import type { Call, Exchange } from '../server/protocol.ts'

/** Maximum number of fields in a form. */
const MAX_FIELDS = 1000
const AMPERSAND = 0x26

interface Options {
  signal: AbortSignal
  trackIncomplete: TrackIncomplete
}

/** Converts the request of a call to a `Request` of the Fetch API, with the URL that clients use. */
export function createWebRequest(exchange: Exchange, call: Call, { signal, trackIncomplete }: Options) {
  const { request, bytes = Buffer.alloc(0), endpoint } = exchange
  const { body: kind } = endpoint?.declaration ?? {}
  const streamed = kind === 'stream' ? streamBody(exchange, trackIncomplete) : undefined
  const received = streamed?.body ?? (kind && bytes)
  const web = new Request(call.url(), {
    ...(request.method !== undefined && { method: request.method }),
    headers: headersOf(request.rawHeaders),
    signal,
    ...(received && { body: received, duplex: 'half' }),
  })
  return {
    request: web,
    /** Returns the value for the handler. Throws 400 if the bytes are not the declared text. */
    readBody: () => (kind === 'stream' ? web.body : kind && decoders[kind](bytes)),
    /** Ends the stream of the body, so that the rest of the body is discarded. */
    stopReading: () => streamed?.stop(),
  }
}

/** Names and values take turns in `rawHeaders`. */
const headersOf = (rawHeaders: readonly string[]) =>
  rawHeaders.reduce((headers, name, index) => {
    if (index % 2 === 0) headers.append(name, rawHeaders[index + 1] ?? '')
    return headers
  }, new Headers())

const decoders = {
  bytes: (bytes: Buffer) => bytes,
  text: (bytes: Buffer) => {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    } catch (cause) {
      throw new ORPCError('BAD_REQUEST', { message: 'The body is not valid UTF-8', cause })
    }
  },
  form: (bytes: Buffer) => {
    const fields = bytes.reduce((count, byte) => count + Number(byte === AMPERSAND), 1)
    if (fields > MAX_FIELDS)
      throw new ORPCError('BAD_REQUEST', { message: `A form may have at most ${MAX_FIELDS} fields` })
    return new URLSearchParams(bytes.toString())
  },
} satisfies Record<Exclude<BodyKind, 'stream'>, (bytes: Buffer) => unknown>
