import type { BucketOptions } from './bucket.ts'
import { openFolder } from './folder.ts'
import type { Files } from './storage.ts'

export { download } from './download.ts'
export { rowFiles } from './row-files.ts'
export { sweepFiles } from './sweep.ts'
export type { Files } from './storage.ts'

/**
 * Opens a storage of files: a folder, or `s3://bucket/prefix`. Several instances need a folder that all of them see, or a bucket.
 *
 * @example
 * export const files = await openFiles('.data/files')
 */
export async function openFiles(location: string, options: BucketOptions = {}): Promise<Files> {
  if (!location.startsWith('s3://')) return openFolder(location)
  const { openBucket } = await import('./bucket.ts')
  return openBucket(new URL(location), options)
}
