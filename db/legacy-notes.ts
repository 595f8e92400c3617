import { and, count, eq } from 'drizzle-orm'
import {
  type Database,
  limitBytes,
  listConnections,
  pageParameters,
  type PageRequest,
  prepared,
  requireRow,
  type SizedRow,
} from 'tallystick/db'

import { isOwn, limitOptions, listedColumns, type ListedNote, notes, selectOwnPage } from './notes.ts'

// Queries for the first form of notes in the API (the `legacyNotes` procedures). The first form identifies notes by
// integer ids. In the first form, a person can access only the person's own notes, not notes that others shared.

const selectList = prepared((db) =>
  limitBytes(db, selectOwnPage(db).as('notes'), listedColumns, limitOptions).prepare('notes_list_own'),
)

export const list = (
  db: Database,
  userId: string,
  page: PageRequest,
): Promise<SizedRow<ListedNote['note']>[]> =>
  selectList(listConnections(db)).execute({ userId, ...pageParameters(page) })

const selectCount = prepared((db) =>
  db.select({ count: count() }).from(notes).where(isOwn).prepare('notes_count_own'),
)

/** Counts all notes that a person wrote, not only the notes of one page. */
export const countAll = async (db: Database, userId: string) =>
  requireRow(await selectCount(listConnections(db)).execute({ userId })).count

export const remove = (db: Database, userId: string, id: number) =>
  db.delete(notes).where(and(eq(notes.userId, userId), eq(notes.id, id)))

export const clear = (db: Database, userId: string) => db.delete(notes).where(eq(notes.userId, userId))
