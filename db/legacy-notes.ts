import { and, count, eq, sql } from 'drizzle-orm'

import type { Database } from './database.ts'
import { type ListedNote, listing, notes } from './notes.ts'
import { limitBytes, listConnections, pageParameters, type PageRequest, type SizedRow } from './pages.ts'
import { prepared, requireRow } from './statements.ts'

// Queries of the first form of notes: by integer id, and only for notes that the person wrote.

const selectList = prepared((db) => {
  const rows = db
    .select(listing.columns)
    .from(notes)
    .where(and(listing.isByUser, listing.isAfterPosition))
    .orderBy(...listing.order)
    .limit(sql.placeholder('limit'))
    .as('notes')
  return limitBytes(db, rows, listing.columns, listing).prepare('notes_list_own')
})

export const list = (
  db: Database,
  userId: string,
  page: PageRequest,
): Promise<SizedRow<ListedNote['note']>[]> =>
  selectList(listConnections(db)).execute({ userId, ...pageParameters(page) })

const selectCount = prepared((db) =>
  db.select({ count: count() }).from(notes).where(listing.isByUser).prepare('notes_count_own'),
)

/** Counts all notes of a person, regardless of pages. */
export const countAll = async (db: Database, userId: string) =>
  requireRow(await selectCount(listConnections(db)).execute({ userId })).count

export const remove = (db: Database, userId: string, id: number) =>
  db.delete(notes).where(and(eq(notes.userId, userId), eq(notes.id, id)))

export const clear = (db: Database, userId: string) => db.delete(notes).where(eq(notes.userId, userId))
