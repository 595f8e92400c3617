import { and, count, desc, eq, exists, getTableColumns, ne, or, sql } from 'drizzle-orm'
import { bigint, index, integer, pgTable, primaryKey, text, unionAll, uuid } from 'drizzle-orm/pg-core'
import { v7, validate } from 'uuid'

import { userId } from './auth.ts'
import { createdAt, updatedAt, updatedIfChanged, version } from './columns.ts'
import type { Database } from './database.ts'
import { requireRow, prepared } from './statements.ts'
import { pageParameters, isAfterPosition, listConnections, type SizedRow, type PageRequest, limitBytes } from './pages.ts'

/** One store for both forms: the first knows a note by `id`, the second by `uuid`. */
export const notes = pgTable(
  'notes',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    uuid: uuid().notNull().unique(),
    userId: userId(),
    title: text().notNull(),
    body: text().notNull(),
    createdAt,
    updatedAt,
    version,
    /** How often it was shared, or shared otherwise: for its author alone to know. */
    sharing: integer().notNull().default(0),
  },
  (table) => [index().on(table.userId, table.createdAt, table.id)],
)

/** Who else may see a note: by address, lower case, whether or not anybody has signed in with it yet. */
export const shares = pgTable(
  'note_shares',
  {
    noteId: bigint({ mode: 'number' })
      .notNull()
      .references(() => notes.id, { onDelete: 'cascade' }),
    email: text().notNull(),
    role: text({ enum: ['reader', 'editor'] }).notNull(),
    createdAt,
    updatedAt,
  },
  (table) => [primaryKey({ columns: [table.noteId, table.email] }), index().on(table.email)],
)

/** Who looks at notes: shares hold by address. */
export interface Viewer {
  id: string
  email: string
}
export type NoteRow = typeof notes.$inferSelect
export type Role = (typeof shares.$inferSelect)['role']
type Content = Pick<NoteRow, 'title' | 'body'>

const byUuid = (id: string) => (validate(id) ? eq(notes.uuid, id) : sql`false`)
const written = (viewer: Viewer) => eq(notes.userId, viewer.id)
const shared = (viewer: Viewer) => and(eq(shares.noteId, notes.id), eq(shares.email, viewer.email))

const sharedWith = sql<number>`(select count(*)::int from ${shares} where ${shares.noteId} = ${notes.id})`

const seen = (db: Database) =>
  db
    .select({ note: notes, role: shares.role, sharedWith })
    .from(notes)
    .leftJoin(shares, and(eq(shares.noteId, notes.id), eq(shares.email, sql.placeholder('email'))))

export type NoteForViewer = Awaited<ReturnType<typeof seen>>[number]

/** A note in a list, without its state. */
export type ListedNote = Omit<NoteForViewer, 'note'> & { note: Omit<NoteRow, 'version' | 'sharing'> }

const ofPerson = eq(notes.userId, sql.placeholder('userId'))
const afterPlace = isAfterPosition(notes.createdAt, notes.id)
const newestFirst = [desc(notes.createdAt), desc(notes.id)] as const
const texts = [notes.title, notes.body]

const { version: _, sharing: __, ...listable } = getTableColumns(notes)

// Two questions in one: each has an index of its own, which one condition for both would keep from being used.
const listed = prepared((db) => {
  const own = db.$with('own').as(
    db
      .select(listable)
      .from(notes)
      .where(and(ofPerson, afterPlace))
      .orderBy(...newestFirst)
      .limit(sql.placeholder('limit')),
  )
  const { id, uuid, userId, title, body, createdAt, updatedAt } = own
  // Counted together: note by note takes as long as all the rest.
  const counts = db
    .select({ noteId: shares.noteId, sharedWith: sql<number>`count(*)::int`.as('shared_with') })
    .from(shares)
    .where(sql`${shares.noteId} = any(array(${db.select({ id }).from(own)}))`)
    .groupBy(shares.noteId)
    .as('counts')
  const written = db
    .with(own)
    .select({
      note: { id, uuid, userId, title, body, createdAt, updatedAt },
      role: sql<Role | null>`null::text`.as('role'),
      sharedWith: sql<number>`coalesce(${counts.sharedWith}, 0)`.as('shared_with'),
    })
    .from(own)
    .leftJoin(counts, eq(counts.noteId, id))
  const toViewer = eq(shares.email, sql.placeholder('email'))
  const ids = db.select({ id: shares.noteId }).from(shares).where(toViewer)
  const role = db
    .select({ role: shares.role })
    .from(shares)
    .where(and(eq(shares.noteId, notes.id), toViewer))
  const given = db
    .select({
      note: listable,
      role: sql<Role | null>`(${role})`.as('role'),
      // For the author alone to know.
      sharedWith: sql<number>`0`.as('shared_with'),
    })
    .from(notes)
    .where(
      and(
        // Not joined: in search of the newest, PostgreSQL would go through everybody's.
        sql`${notes.id} = any(array(${ids}))`,
        ne(notes.userId, sql.placeholder('userId')),
        afterPlace,
      ),
    )
    .orderBy(...newestFirst)
    .limit(sql.placeholder('limit'))
  const rows = unionAll(given, written)
    .orderBy(desc(sql.identifier('created_at')), desc(sql.identifier('id')))
    .limit(sql.placeholder('limit'))
    .as('notes')
  const fields = {
    note: listable,
    role: sql<Role | null>`role`,
    sharedWith: sql<number>`shared_with`,
  }
  return limitBytes(db, rows, fields, { texts, order: newestFirst }).prepare('notes_list')
})

/** The notes a viewer wrote or was given, newest first. */
export const list = (db: Database, { id: userId, email }: Viewer, span: PageRequest): Promise<SizedRow<ListedNote>[]> =>
  listed(listConnections(db)).execute({ userId, email, ...pageParameters(span) })

const found = prepared((db) =>
  seen(db)
    .where(eq(notes.uuid, sql.placeholder('id')))
    .prepare('notes_find'),
)

/** Any note, with the viewer's role in it: what they may do about it is for the guard to say. */
export const find = async (db: Database, { email }: Viewer, id: string) =>
  validate(id) ? (await found(db).execute({ email, id })).at(0) : undefined

const inserted = prepared((db) =>
  db
    .insert(notes)
    .values({
      uuid: sql.placeholder('uuid'),
      userId: sql.placeholder('userId'),
      title: sql.placeholder('title'),
      body: sql.placeholder('body'),
    })
    .returning()
    .prepare('notes_insert'),
)

export const insert = async (db: Database, userId: string, { title, body }: Content) =>
  requireRow(await inserted(db).execute({ uuid: v7(), userId, title, body }))

/** A note that the viewer wrote or was given to edit. */
const editable = (db: Database, viewer: Viewer, id: string) => {
  const edits = db
    .select({ role: shares.role })
    .from(shares)
    .where(and(shared(viewer), eq(shares.role, 'editor')))
  return and(byUuid(id), or(written(viewer), exists(edits)))
}

/** A note as it stays until the transaction ends. */
export const findForUpdate = async (db: Database, viewer: Viewer, id: string) =>
  (
    await db
      .select()
      .from(notes)
      .where(editable(db, viewer, id))
      .for('update')
  ).at(0)

export const update = async (db: Database, viewer: Viewer, id: string, content: Content) => {
  const [row] = await db
    .update(notes)
    .set({ ...content, ...updatedIfChanged(notes, content) })
    .where(editable(db, viewer, id))
    .returning({ id: notes.id })
  return row && find(db, viewer, id)
}

/** Shares a note that the viewer wrote with an address; again, with another role. */
export const share = (db: Database, viewer: Viewer, id: string, email: string, role: Role) =>
  db.transaction(async (tx) => {
    const own = tx
      .select({ noteId: notes.id })
      .from(notes)
      .where(and(byUuid(id), written(viewer)))
    const [note] = await own.for('key share')
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

export const remove = async (db: Database, viewer: Viewer, id: string) =>
  (
    await db
      .delete(notes)
      .where(and(byUuid(id), written(viewer)))
      .returning({ id: notes.uuid })
  ).at(0)

// The first form: by number, and only what its person wrote.

const listedOwn = prepared((db) => {
  const rows = db
    .select(listable)
    .from(notes)
    .where(and(ofPerson, afterPlace))
    .orderBy(...newestFirst)
    .limit(sql.placeholder('limit'))
    .as('notes')
  return limitBytes(db, rows, listable, { texts, order: newestFirst }).prepare('notes_list_own')
})

export const listOwn = (db: Database, userId: string, span: PageRequest): Promise<SizedRow<ListedNote['note']>[]> =>
  listedOwn(listConnections(db)).execute({ userId, ...pageParameters(span) })

const countedOwn = prepared((db) =>
  db.select({ count: count() }).from(notes).where(ofPerson).prepare('notes_count_own'),
)

export const countOwn = async (db: Database, userId: string) =>
  requireRow(await countedOwn(listConnections(db)).execute({ userId })).count

export const listTitles = (db: Database, userId: string) =>
  db.select({ title: notes.title }).from(notes).where(eq(notes.userId, userId))

export const removeOwn = (db: Database, userId: string, id: number) =>
  db.delete(notes).where(and(eq(notes.userId, userId), eq(notes.id, id)))

export const clear = (db: Database, userId: string) => db.delete(notes).where(eq(notes.userId, userId))
