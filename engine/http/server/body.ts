import { ORPCError } from '@orpc/client'
import { isObject, type Promisable } from '@orpc/shared'
import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { finished } from 'node:stream'

import type { Context } from '../../context.ts'
import { MAX_BODY } from './body-limits.ts'

/** Maximum nesting depth of arrays and objects. */
export const MAX_DEPTH = 64
/** Maximum total number of values in the arrays and objects of a body, for each MiB of the maximum size. */
const MAX_ITEMS = 10_000
const MAX_FIELDS = 100

export interface Body extends Pick<Context, 'malformed'> {
  /** The JSON object, or the fields of the form. */
  body: Record<string, unknown> | undefined
}

/** Returns whether a request has a body (RFC 9112, section 6.3). */
export const hasBody = (headers: IncomingHttpHeaders) =>
  (headers['content-length'] ?? '0') !== '0' || headers['transfer-encoding'] !== undefined

/** Throws 413 if the declared size of a body exceeds the maximum. */
export function checkSize(headers: IncomingHttpHeaders, limit: number) {
  if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge(limit)
}

/**
 * Starts to count a request with an incomplete body. The count may call `abort` later, to enforce its limit. Returns a
 * function that stops counting the request.
 */
export type TrackIncomplete = (abort: (error: Error) => void) => () => void

/**
 * Reads a body of at most `limit` bytes. Returns synchronously if all bytes have already arrived, which is usual for a small
 * body.
 */
export function readBody(
  request: IncomingMessage,
  limit: number,
  track: TrackIncomplete,
): Promisable<Buffer> {
  const isComplete = request.readableLength === Number(request.headers['content-length'])
  const bytes: unknown = isComplete ? request.read() : undefined
  return Buffer.isBuffer(bytes) ? bytes : collectBytes(request, limit, track)
}

function collectBytes(request: IncomingMessage, limit: number, track: TrackIncomplete): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const stop = () => {
      release()
      removeListeners()
      request.off('data', onData)
    }
    const abort = (error: Error) => {
      stop()
      chunks.length = 0
      reject(error)
    }
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size > limit) abort(tooLarge(limit))
      else chunks.push(chunk)
    }
    const release = track(abort)
    const removeListeners = finished(request, { writable: false }, (error) => {
      stop()
      if (error) reject(new ORPCError('BAD_REQUEST', { message: 'The body ended early' }))
      else resolve(Buffer.concat(chunks))
    })
    request.on('data', onData)
  })
}

const tooLarge = (limit: number) =>
  new ORPCError('PAYLOAD_TOO_LARGE', { message: `A body may have at most ${limit} bytes` })

/** Returns the result for a body that cannot be parsed. */
export const malformed = (message: string): Body => ({
  body: {},
  malformed: new ORPCError('BAD_REQUEST', { message }),
})

const tooComplex = (maxItems: number) =>
  malformed(`A body may be ${MAX_DEPTH} levels deep and have ${maxItems} values at most`)

/**
 * Parses a JSON object. Returns the error of a malformed body instead of throwing it: the guard throws this error after
 * its own checks, because 401 has priority over 400.
 */
export const parseObject = (bytes: Buffer, limit?: number): Body =>
  parseBounded(
    bytes,
    (value) => (isObject(value) ? { body: value } : malformed('The body must be a JSON object')),
    limit,
  )

/** Parses the JSON list of the calls of a batch. The list becomes the property `calls` of the body. */
export const parseCalls = (bytes: Buffer): Body =>
  parseBounded(bytes, (value) =>
    Array.isArray(value) ? { body: { calls: value } } : malformed('The body of a batch must be a JSON list'),
  )

/** Parses one JSON object, or a list. A list becomes the property `calls` of the body. */
export const parseMessages = (bytes: Buffer): Body =>
  parseBounded(bytes, (value) =>
    isObject(value)
      ? { body: value }
      : Array.isArray(value)
        ? { body: { calls: value } }
        : malformed('The body must be a JSON object or a list'),
  )

/** `limit` is the maximum size of the body, which determines the maximum number of values. */
function parseBounded(bytes: Buffer, toBody: (value: unknown) => Body, limit = MAX_BODY) {
  const maxItems = MAX_ITEMS * Math.max(1, Math.floor(limit / MAX_BODY))
  if (isComplex(bytes, maxItems)) return tooComplex(maxItems)
  const value = parse(bytes)
  return value === undefined ? malformed('The body is not valid JSON') : toBody(value)
}

export function parseForm(bytes: Buffer): Body {
  const fields = [...new URLSearchParams(bytes.subarray(0, endOf(bytes)).toString())]
  if (fields.length > MAX_FIELDS) return malformed(`A form may have at most ${MAX_FIELDS} fields`)
  const body = Object.fromEntries(fields)
  // Parameters must not be repeated (RFC 6749, section 3.1).
  if (Object.keys(body).length < fields.length) return malformed('A parameter is repeated')
  return { body }
}

/**
 * Returns the length of the first MAX_FIELDS + 1 fields, in bytes. Further fields are not parsed, because one field
 * above the maximum is enough to reject the form.
 */
function endOf(bytes: Buffer) {
  let end = -1
  for (let field = 0; field <= MAX_FIELDS; field++) {
    end = bytes.indexOf('&', end + 1)
    if (end === -1) return bytes.length
  }
  return end
}

const BYTE_ORDER_MARK = Buffer.from('\uFEFF')

/** Parses JSON. Some programs write a byte order mark before JSON; a receiver may ignore the mark (RFC 8259, section 8.1). */
function parse(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) return undefined
  try {
    const hasMark = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
    return JSON.parse(bytes.toString('utf8', hasMark ? BYTE_ORDER_MARK.length : 0))
  } catch {
    return undefined
  }
}

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c]
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Returns whether JSON exceeds MAX_DEPTH or `maxItems`. Scans the bytes before other code traverses the value. The scan
 * takes 1 ms for 1 MiB. The traversal of a complex value would take a hundred times as long, or overflow the stack.
 * Each level requires two brackets, so valid JSON that is shorter than twice the maximum depth cannot exceed the
 * limits.
 */
function isComplex(bytes: Buffer, maxItems: number) {
  if (bytes.length < 2 * MAX_DEPTH) return false
  let depth = 0
  let items = 0
  let inString = false
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index]
    if (inString) {
      if (byte === BACKSLASH) index++
      else if (byte === QUOTE) inString = false
    } else if (byte === QUOTE) inString = true
    else if (byte === COMMA) items++
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      items++
      depth++
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth--
    if (depth > MAX_DEPTH || items > maxItems) return true
  }
  return false
}
