import { ORPCError } from '@orpc/client'
import { isObject } from '@orpc/shared'
import { parse as parseType } from 'content-type'
import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'

import type { Context } from '../../call/context.ts'
import { isBatch, RPC } from '../protocols/rpc-format.ts'
import { MAX_BODY } from './body-limits.ts'
import { type Call, MCP, type Target } from './protocol.ts'

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

export const tooLarge = (limit: number) =>
  new ORPCError('PAYLOAD_TOO_LARGE', { message: `A body may have at most ${limit} bytes` })

/** Returns the result for a body that cannot be parsed. */
const malformed = (message: string): Body => ({
  body: {},
  malformed: new ORPCError('BAD_REQUEST', { message }),
})

/** What a body may be, with the message for other JSON. A list becomes the property `calls` of the body. */
const shapes = {
  object: 'The body must be a JSON object',
  list: 'The body of a batch must be a JSON list',
  objectOrList: 'The body must be a JSON object or a list',
}

/**
 * Parses JSON. Returns the error of a malformed body instead of throwing it: the guard throws this error after its own
 * checks, because 401 has priority over 400. `limit` is the maximum size of the body, which determines the maximum number
 * of values.
 */
export function parseJson(bytes: Buffer, shape: keyof typeof shapes, limit = MAX_BODY): Body {
  const maxItems = MAX_ITEMS * Math.max(1, Math.floor(limit / MAX_BODY))
  if (isComplex(bytes, maxItems))
    return malformed(`A body may be ${MAX_DEPTH} levels deep and have ${maxItems} values at most`)
  const value = parse(bytes)
  if (value === undefined) return malformed('The body is not valid JSON')
  if (shape !== 'list' && isObject(value)) return { body: value }
  if (shape !== 'object' && Array.isArray(value)) return { body: { calls: value } }
  return malformed(shapes[shape])
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

/** Paths of pages with forms. */
export const PAGES = ['/authorize', '/device']
/** Paths that accept form bodies. The OAuth standards require forms for the paths without pages. */
const FORMS = [...PAGES, '/token', '/revoke', '/device_authorization']
/** Paths with error responses of their own format, also for a body of an unsupported type. */
const OAUTH = [...FORMS, '/register']

/** Parses a body in the format for the path. Returns the error of an unsupported body (415) as `refusal`. */
export function parseBody(
  bytes: Buffer,
  headers: IncomingHttpHeaders,
  { path }: Target,
  limit: number,
): Body & Pick<Call, 'refusal'> {
  const refuse = OAUTH.includes(path) ? malformed : unsupported
  const { 'content-encoding': coding = 'identity' } = headers
  if (coding.toLowerCase() !== 'identity') return refuse('A body must not be compressed')
  const { type, parameters } = parseType(headers['content-type'] ?? '')
  const { charset = 'utf-8' } = parameters
  if (!/^utf-?8$/i.test(charset)) return refuse('The charset of a body must be UTF-8')
  const isForm = FORMS.includes(path)
  if (isForm && type === 'application/x-www-form-urlencoded') return parseForm(bytes)
  if (type === 'application/json') return parseJson(bytes, shapeFor(path, headers), limit)
  return refuse(`A body must be ${isForm ? 'application/x-www-form-urlencoded' : 'application/json'}`)
}

function shapeFor(path: string, headers: IncomingHttpHeaders): keyof typeof shapes {
  if (path === MCP) return 'objectOrList'
  return path.startsWith(RPC) && isBatch(headers) ? 'list' : 'object'
}

const unsupported = (message: string) => ({
  body: undefined,
  refusal: new ORPCError('UNSUPPORTED_MEDIA_TYPE', { message }),
})
