import { and, count, desc, eq, getTableColumns, ne, type SQL, sql } from 'drizzle-orm'
import {
  type Database,
  isAfterPosition,
  limitBytes,
  listConnections,
  pageParameters,
  type PageRequest,
  type Person,
  prepared,
  type SizedRow,
} from 'tallystick/db'

import { find, hasUuid, isAuthor, MAX_FOREIGN, notes, type Role, shares } from './notes.ts'

const listedColumns = { email: shares.email, role: shares.role, createdAt: shares.createdAt }
const order = [desc(shares.createdAt), desc(shares.email)]

export type ListedShare = Pick<typeof shares.$inferSelect, keyof typeof listedColumns>

const selectList = prepared((db) => {
  const rows = db
    .select(listedColumns)
    .from(shares)
    .innerJoin(notes, eq(notes.id, shares.noteId))
    .where(
      and(
        eq(notes.uuid, sql.placeholder('uuid')),
        eq(notes.userId, sql.placeholder('userId')),
        isAfterPosition(shares.createdAt, shares.email),
      ),
    )
    .orderBy(...order)
    .limit(sql.placeholder('limit'))
    .as('note_shares')
  return limitBytes(db, rows, listedColumns, { texts: [shares.email], order }).prepare('shares_list')
})

/** Lists the shares of a note, newest first. The list is empty unless the viewer is the author. */
export const list = (
  db: Database,
  { id: userId }: Person,
  uuid: string,
  page: PageRequest,
): Promise<SizedRow<ListedShare>[]> =>
  selectList(listConnections(db)).execute({ ...pageParameters(page), userId, uuid })

/**
 * Runs `change`, which returns the changed rows. Returns the note afterwards, or undefined if no note has this id and fulfills
 * the condition.
 */
const changeShares = (
  db: Database,
  viewer: Person,
  id: string,
  condition: SQL | undefined,
  change: (tx: Database, noteId: number) => Promise<unknown[]>,
) =>
  db.transaction(async (tx) => {
    const found = tx
      .select({ id: notes.id })
      .from(notes)
      .where(and(hasUuid(id), condition))
    // Prevents the deletion of the note until the end of the transaction. Changes of the note do not wait.
    const [note] = await found.for('key share')
    if (!note) return undefined
    const changed = await change(tx, note.id)
    // `sharing` is part of the author's entity tag.
    if (changed.length > 0)
      await tx
        .update(notes)
        .set({ sharing: sql`${notes.sharing} + 1` })
        .where(eq(notes.id, note.id))
    return find(tx, viewer, id)
  })

/** Shares a note with an e-mail address, or changes the role of the address. */
export const put = (db: Database, viewer: Person, id: string, email: string, role: Role) =>
  changeShares(db, viewer, id, isAuthor(viewer), (tx, noteId) =>
    tx
      .insert(shares)
      .values({ noteId, email, role })
      .onConflictDoUpdate({
        target: [shares.noteId, shares.email],
        set: { role, updatedAt: sql`now()` },
        setWhere: ne(shares.role, role),
      })
      .returning({ noteId: shares.noteId }),
  )

const removeShare = (tx: Database, noteId: number, email: string) =>
  tx
    .delete(shares)
    .where(and(eq(shares.noteId, noteId), eq(shares.email, email)))
    .returning({ noteId: shares.noteId })

/** Removes the share of the author's note with an e-mail address, if there is one. */
export const remove = (db: Database, viewer: Person, id: string, email: string) =>
  changeShares(db, viewer, id, isAuthor(viewer), (tx, noteId) => removeShare(tx, noteId, email))

/** Removes the share of a note with the viewer's own address, if there is one. */
export const leave = (db: Database, viewer: Person, id: string) =>
  changeShares(db, viewer, id, undefined, (tx, noteId) => removeShare(tx, noteId, viewer.email))

/** Returns the ids of the people who share notes with an e-mail address: their changes are changes of this person's list. */
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

/** The queries of an export: the person's notes, the shares of these notes, and the newest notes shared with the person. */
export const exportQueries = (db: Database, { id, email }: Person) => {
  const newestFirst = [desc(notes.createdAt), desc(notes.id)]
  const isOfOthers = and(eq(shares.email, email), ne(notes.userId, id))
  return {
    notes: db
      .select()
      .from(notes)
      .where(eq(notes.userId, id))
      .orderBy(...newestFirst),
    shares: db
      .select(getTableColumns(shares))
      .from(shares)
      .innerJoin(notes, eq(notes.id, shares.noteId))
      .where(eq(notes.userId, id))
      .orderBy(shares.noteId, shares.email),
    sharedByOthers: db
      .select({ id: notes.uuid, title: notes.title, role: shares.role })
      .from(shares)
      .innerJoin(notes, eq(notes.id, shares.noteId))
      .where(isOfOthers)
      .orderBy(...newestFirst)
      .limit(MAX_FOREIGN),
    numberSharedByOthers: db
      .select({ count: count() })
      .from(shares)
      .innerJoin(notes, eq(notes.id, shares.noteId))
      .where(isOfOthers),
  }
}
