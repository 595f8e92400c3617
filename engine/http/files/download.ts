import { ORPCError } from '@orpc/client'
import { create as createDisposition } from 'content-disposition'
import fresh from 'fresh'
import { toUSVString } from 'node:util'

import { firstElements } from '../server/accept.ts'
import { setContentLength } from '../endpoints/web-response.ts'
import { type ByteRange, type Files, requireKey } from './storage.ts'

/** A file as the row of an application describes it. */
export interface DownloadedFile {
  key: string
  /** What browsers suggest as the name of the file. Any text. */
  name: string
  /** The media type. */
  type: string
  /** The number of bytes. */
  size: number
}

/**
 * Answers a request for a file: as an attachment, which the browser saves and does not show, and whose scripts do not run. Answers
 * `Range`, `If-Range` and `If-None-Match`. If the storage signs addresses, redirects to the
 * storage. The caller has checked the permission. Throws 404 if the storage has no such file.
 *
 * @example
 * const download = endpoint({ method: 'GET', path: '/api/covers/{id}', rateLimit, access: {} }, async ({ request, params, context }) => {
 *   const cover = await coverRows.find(context.db, context.user, params.id)
 *   if (!cover) throw new ORPCError('NOT_FOUND')
 *   return download(request, files, cover)
 * })
 */
export async function download(
  { method, headers }: Request,
  files: Files,
  { key, name, type, size }: DownloadedFile,
): Promise<Response> {
  const disposition = createDisposition(toSafeName(name))
  if (files.sign) return redirectTo(await files.sign(key, { type, disposition }))
  const etag = `"${requireKey(key)}"`
  const described = { etag, 'accept-ranges': 'bytes' }
  const condition = headers.get('if-none-match')
  if (condition !== null && fresh({ 'if-none-match': firstElements(condition) }, { etag }))
    return new Response(null, { status: 304, headers: described })

  const range = selectRange(method, headers, { etag, size })
  if (range === 'unsatisfiable')
    return new Response(null, { status: 416, headers: { ...described, 'content-range': `bytes */${size}` } })
  // Also for HEAD, whose answer is that of GET. The sender of the answer then closes the body without reading.
  const body = await files.get(key, range)
  if (body === undefined) throw new ORPCError('NOT_FOUND', { message: 'The storage does not have the file' })
  const answer = new Response(body, {
    status: range ? 206 : 200,
    headers: {
      ...described,
      'content-type': type,
      'content-disposition': disposition,
      'content-security-policy': 'sandbox',
      ...(range && { 'content-range': `bytes ${range.start}-${range.end}/${size}` }),
    },
  })
  return setContentLength(answer, range ? range.end - range.start + 1 : size)
}

const redirectTo = (location: string) => new Response(null, { status: 302, headers: { location } })

/**
 * Returns the range that a request asks for. Undefined for the whole file: without a valid range, with several ranges, and if the
 * request has a range of another file (`If-Range`).
 */
function selectRange(
  method: string,
  headers: Headers,
  { etag, size }: { etag: string; size: number },
): ByteRange | 'unsatisfiable' | undefined {
  const [, first, last] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(headers.get('range') ?? '') ?? []
  const hasOther = (headers.get('if-range') ?? etag) !== etag
  if (method !== 'GET' || hasOther || first === undefined || last === undefined || first + last === '')
    return undefined
  const isSuffix = first === ''
  const start = isSuffix ? Math.max(0, size - Number(last)) : Number(first)
  const end = isSuffix || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (!isSuffix && last !== '' && Number(last) < start) return undefined
  return start < size ? { start, end } : 'unsatisfiable'
}

/** Separators of paths, control characters, and characters that change the direction of text: they could disguise an extension. */
const UNSAFE = /[/\\\p{Cc}\p{Bidi_Control}]/gu

/** Longer names would not fit into a file system, or into the headers that clients accept. */
const MAX_NAME = 255

const toSafeName = (name: string) =>
  toUSVString(name.slice(0, MAX_NAME)).replace(UNSAFE, '_').trim() || 'file'
