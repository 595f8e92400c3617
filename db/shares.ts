import { and, eq, ne, sql } from 'drizzle-orm'

import type { Database } from './database.ts'
import { find, hasUuid, isAuthor, notes, type Role, shares, type Viewer } from './notes.ts'
import { prepared } from './statements.ts'

/**
 * Shares a note with an e-mail address, or changes the role of the address. Returns undefined if the viewer is not
 * the author of a note with this id.
 */
export const put = (db: Database, viewer: Viewer, id: string, email: string, role: Role) =>
  db.transaction(async (tx) => {
    const ownNote = tx
      .select({ noteId: notes.id })
      .from(notes)
      .where(and(hasUuid(id), isAuthor(viewer)))
    const [note] = await ownNote.for('key share')
    if (!note) return undefined
    const [changed] = await tx
      .insert(shares)
      .values({ ...note, email, role })
      .onConflictDoUpdate({
        target: [shares.noteId, shares.email],
        set: { role, updatedAt: sql`now()` },
        setWhere: ne(shares.role, role),
      })
      .returning({ noteId: shares.noteId })
    if (changed)
      await tx
        .update(notes)
        .set({ sharing: sql`${notes.sharing} + 1` })
        .where(eq(notes.id, note.noteId))
    return find(tx, viewer, id)
  })

/** Returns the ids of the people who share notes with an e-mail address. */
export const listAuthors = async (db: Database, email: string) => {
  const rows = await selectAuthors(db).execute({ email })
  return rows.map(({ id }) => id)
}

const selectAuthors = prepared((db) =>
  db
    .selectDistinct({ id: notes.userId })
    .from(shares)
    .innerJoin(notes, eq(notes.id, shares.noteId))
    .where(eq(shares.email, sql.placeholder('email')))
    .prepare('shares_list_authors'),
)
