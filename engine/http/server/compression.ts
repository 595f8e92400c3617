import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

import type { Reply } from '../../caller.ts'
import { type Coding, preferredCoding } from './accept.ts'

/** Minimum size of a compressed answer, in bytes. A smaller answer fits in one network packet. */
export const MIN_COMPRESSED = 1024

/** Level 4 of Brotli compresses 200 KiB in 2 ms, to less than gzip in the same time. Level 11 needs 300 ms. */
const params = { [constants.BROTLI_PARAM_QUALITY]: 4 }
const brotli = promisify(brotliCompress)

/** Compresses in the thread pool of Node, so that the event loop is not blocked. */
export const compressors: Record<Coding, (bytes: Buffer | string) => Promise<Buffer>> = {
  br: (bytes) => brotli(bytes, { params }),
  gzip: promisify(gzip),
}

/**
 * Selects the content coding of a procedure's answer of at least MIN_COMPRESSED bytes. Undefined if the client accepts
 * no coding, or the answer has `Cache-Control: no-transform`: the guard sets this header on answers that contain tokens
 * (`secrets` in the contract), because the size of a compressed answer can reveal its content to an attacker who
 * controls a part of the answer (BREACH).
 *
 * Makes the entity tag of the reply weak, because the tag of the uncompressed answer is strong, and a compressed answer
 * has other bytes (RFC 9110, section 8.8.3.3).
 */
export function selectCoding({ headers }: IncomingMessage, reply: Reply): Coding | undefined {
  const coding = preferredCoding(headers['accept-encoding'] ?? '')
  if (!coding || reply.get('cache-control') === NO_TRANSFORM) return undefined
  const etag = reply.get('etag')
  if (typeof etag === 'string') reply.set('etag', `W/${etag}`)
  return coding
}

const NO_TRANSFORM = 'no-transform'
