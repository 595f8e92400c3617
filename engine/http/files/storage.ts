import { Readable } from 'node:stream'

import { validate } from 'uuid'

/** The bytes of a file from `start` to `end`, both included. */
export interface ByteRange {
  start: number
  end: number
}

/**
 * A storage of files: a folder, or a bucket of S3. The files have random keys, and never change. The rows of the application have the
 * keys, and decide who may read a file.
 *
 * @example
 * const { key, size } = await files.put(body)
 */
export interface Files {
  /** Stores a stream under a new key. If the stream or the storage fails, nothing is stored. */
  put: (body: ReadableStream<Uint8Array>) => Promise<{ key: string; size: number }>
  /** Returns undefined if no file has the key. */
  get: (key: string, range?: ByteRange) => Promise<ReadableStream<Uint8Array> | undefined>
  /** Removes a file. Does nothing if no file has the key. */
  remove: (key: string) => Promise<void>
  /** Lists all files, also incomplete ones of processes that have ended. */
  list: () => AsyncIterable<{ key: string; storedAt: Date }>
  /** Returns a URL of the storage that is valid for a short time. Undefined if this service sends the files. */
  sign?: (key: string, headers: { type: string; disposition: string }) => Promise<string>
}

/** `put` makes the keys, so that no input of a caller can be a path. */
export const isKey = validate

export function requireKey(key: string) {
  if (!isKey(key)) throw new TypeError('The key of a file must be a UUID that `put` has returned')
  return key.toLowerCase()
}

/**
 * Converts a stream of Node, so that `cancel` closes the file also if nobody has read: an iterator of the stream would leave it open.
 * `highWaterMark: 0` reads nothing before the consumer asks.
 */
export const toWebStream = (stream: Readable): ReadableStream<Uint8Array> =>
  Readable.toWeb(stream, { strategy: { highWaterMark: 0 } })
