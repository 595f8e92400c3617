import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

import type { Coding } from './accept.ts'

/** Level 4 of Brotli compresses 200 KiB in 2 ms, to less than gzip in the same time. Level 11 needs 300 ms. */
const params = { [constants.BROTLI_PARAM_QUALITY]: 4 }
const brotli = promisify(brotliCompress)

/** Compresses in the thread pool of Node, so that the event loop is not blocked. */
export const compressors: Record<Coding, (bytes: Buffer | string) => Promise<Buffer>> = {
  br: (bytes) => brotli(bytes, { params }),
  gzip: promisify(gzip),
}
