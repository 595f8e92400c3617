import type { PgColumn } from 'drizzle-orm/pg-core'

import type { Database } from '../../db/connection/database.ts'
import { findStored } from '../../db/stored-values.ts'
import type { Files } from './storage.ts'

/** Age from which a file without a row is removed, in milliseconds: the rows of younger files may not be committed yet. */
const MIN_AGE = 24 * 3_600_000

const BATCH = 500

const keyColumns = new WeakMap<Files, PgColumn[]>()

/**
 * The columns that `rowFiles` has registered for a storage. Several tables can share the storage, and the sweep of each must know all of
 * them.
 */
export const keyColumnsOf = (files: Files): readonly PgColumn[] => keyColumns.get(files) ?? []

export function addKeyColumn(files: Files, column: PgColumn) {
  keyColumns.set(files, [...keyColumnsOf(files), column])
}

interface Options {
  now: Date
  signal?: AbortSignal
}

/**
 * Removes files that no row refers to: of failed uploads, deleted accounts and deleted parents of rows. `columns` must be
 * all columns with keys of files in this storage, because the files of other rows would be lost: `rowFiles` passes `keyColumnsOf(files)`, other
 * callers list them. Returns the number of removed files.
 *
 * @example
 * export const sweepCovers = job(
 *   { input: z.object({}), schedule: { cron: '0 3 * * *' }, timeout: 3600 },
 *   (_, { db, now, signal }) => sweepFiles(files, db, [covers.key], { now: now(), signal }),
 * )
 */
export async function sweepFiles(
  files: Files,
  db: Database,
  columns: readonly PgColumn[],
  { now, signal }: Options,
): Promise<number> {
  const before = now.getTime() - MIN_AGE
  let removed = 0
  let keys = new Set<string>()

  async function removeUnused() {
    signal?.throwIfAborted()
    for (const column of columns) for (const key of await findStored(db, column, [...keys])) keys.delete(key)
    for (const key of keys) await files.remove(key)
    removed += keys.size
    keys = new Set()
  }

  for await (const { key, storedAt } of files.list()) {
    if (storedAt.getTime() < before) keys.add(key)
    if (keys.size >= BATCH) await removeUnused()
  }
  if (keys.size > 0) await removeUnused()
  return removed
}
