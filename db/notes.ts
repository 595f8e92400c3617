import { and, desc, eq, exists, getTableColumns, ne, or, sql } from 'drizzle-orm'
import { bigint, index, integer, pgTable, primaryKey, text, unionAll, uuid } from 'drizzle-orm/pg-core'
import { v7, validate } from 'uuid'

import { userId } from './users.ts'
import { createdAt, timestamptz, updatedAt, updatedIfChanged, version } from './columns.ts'
import type { Database } from './database.ts'
import {
  isAfterPosition,
  limitBytes,
  listConnections,
  pageParameters,
  type PageRequest,
  type SizedRow,
} from './pagination.ts'
import { prepared, requireRow } from './statements.ts'

/** The notes of both forms in the API. The first form identifies a note by `id`, the second form by `uuid`. */
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
    /**
     * Number of changes to the shares of the note. Only the entity tag for the author contains this number, because
     * readers must not notice new shares.
     */
    sharing: integer().notNull().default(0),
  },
  (table) => [index().on(table.userId, table.createdAt, table.id)],
)

/**
 * People with access to a note, identified by e-mail address in lower case. A row is valid even if no account has the
 * address.
 */
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
    /**
     * The `createdAt` of the note, so that an index returns the shared notes in the order of the list. A trigger sets this
     * column.
     */
    noteCreatedAt: timestamptz().notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.noteId, table.email] }),
    index().on(table.email, table.noteCreatedAt, table.noteId),
    index().on(table.noteId, table.createdAt, table.email),
  ],
)

/** The person who reads or changes notes. Shares contain the e-mail address of a person instead of the id. */
export interface Viewer {
  id: string
  email: string
}
export type NoteRow = typeof notes.$inferSelect
export type Role = (typeof shares.$inferSelect)['role']
type Content = Pick<NoteRow, 'title' | 'body'>

/** Condition: the note has this UUID (the id in the second form). An invalid UUID matches no note. */
export const hasUuid = (id: string) => (validate(id) ? eq(notes.uuid, id) : sql`false`)
export const isAuthor = (viewer: Viewer) => eq(notes.userId, viewer.id)
const isSharedWith = (viewer: Viewer) => and(eq(shares.noteId, notes.id), eq(shares.email, viewer.email))

const shareCount = sql<number>`(select count(*)::int from ${shares} where ${shares.noteId} = ${notes.id})`

const selectForViewer = (db: Database) =>
  db
    .select({ note: notes, role: shares.role, sharedWith: shareCount })
    .from(notes)
    .leftJoin(shares, and(eq(shares.noteId, notes.id), eq(shares.email, sql.placeholder('email'))))

/** A note with the role of the viewer (null if the note is not shared with the viewer) and the number of shares. */
export type NoteForViewer = Awaited<ReturnType<typeof selectForViewer>>[number]

/**
 * A note in a list. Omits `version` and `sharing`, because only the entity tag of a single note needs these columns.
 */
export type ListedNote = Omit<NoteForViewer, 'note'> & { note: Omit<NoteRow, 'version' | 'sharing'> }

const { version: _, sharing: __, ...columns } = getTableColumns(notes)

/** Parts of the statements that list notes (both forms). Placeholders: `userId`, and those in pagination.ts. */
export const listing = {
  columns,
  isByUser: eq(notes.userId, sql.placeholder('userId')),
  isAfterPosition: isAfterPosition(notes.createdAt, notes.id),
  order: [desc(notes.createdAt), desc(notes.id)],
  texts: [notes.title, notes.body],
}

// The statement is a union of two queries (own notes and shared notes), so that each query uses an index. With
// both conditions in one query, PostgreSQL would use no index.
const selectList = prepared((db) => {
  const own = db.$with('own').as(
    db
      .select(columns)
      .from(notes)
      .where(and(listing.isByUser, listing.isAfterPosition))
      .orderBy(...listing.order)
      .limit(sql.placeholder('limit')),
  )
  const { id, uuid, userId, title, body, createdAt, updatedAt } = own
  // Counts the shares of all notes in one subquery. A separate count for each note would double the time of the
  // statement.
  const counts = db
    .select({ noteId: shares.noteId, sharedWith: sql<number>`count(*)::int`.as('shared_with') })
    .from(shares)
    .where(sql`${shares.noteId} = any(array(${db.select({ id }).from(own)}))`)
    .groupBy(shares.noteId)
    .as('counts')
  const ownNotes = db
    .with(own)
    .select({
      note: { id, uuid, userId, title, body, createdAt, updatedAt },
      role: sql<Role | null>`null::text`.as('role'),
      sharedWith: sql<number>`coalesce(${counts.sharedWith}, 0)`.as('shared_with'),
    })
    .from(own)
    .leftJoin(counts, eq(counts.noteId, id))
  const sharedNotes = db
    .select({
      note: columns,
      role: sql<Role | null>`${shares.role}`.as('role'),
      // Only the author may know the number of shares.
      sharedWith: sql<number>`0`.as('shared_with'),
    })
    .from(shares)
    .innerJoin(notes, eq(notes.id, shares.noteId))
    .where(
      and(
        eq(shares.email, sql.placeholder('email')),
        ne(notes.userId, sql.placeholder('userId')),
        isAfterPosition(shares.noteCreatedAt, shares.noteId),
      ),
    )
    .orderBy(desc(shares.noteCreatedAt), desc(shares.noteId))
    .limit(sql.placeholder('limit'))
  const rows = unionAll(sharedNotes, ownNotes)
    .orderBy(desc(sql.identifier('created_at')), desc(sql.identifier('id')))
    .limit(sql.placeholder('limit'))
    .as('notes')
  const fields = {
    note: columns,
    role: sql<Role | null>`role`,
    sharedWith: sql<number>`shared_with`,
  }
  return limitBytes(db, rows, fields, listing).prepare('notes_list')
})

/** Lists the viewer's notes and the notes shared with the viewer, newest first. */
export const list = (
  db: Database,
  { id: userId, email }: Viewer,
  page: PageRequest,
): Promise<SizedRow<ListedNote>[]> =>
  selectList(listConnections(db)).execute({ userId, email, ...pageParameters(page) })

const selectOne = prepared((db) =>
  selectForViewer(db)
    .where(eq(notes.uuid, sql.placeholder('id')))
    .prepare('notes_find'),
)

/**
 * Finds a note by its UUID, with the viewer's role. Also returns notes that the viewer may not read: src/guard/ checks
 * the permission.
 */
export const find = async (db: Database, { email }: Viewer, id: string) =>
  validate(id) ? (await selectOne(db).execute({ email, id })).at(0) : undefined

const insertValues = prepared((db) =>
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
  requireRow(await insertValues(db).execute({ uuid: v7(), userId, title, body }))

/** Condition: the viewer is the author or an editor of the note. */
const isEditable = (db: Database, viewer: Viewer, id: string) => {
  const editorRole = db
    .select({ role: shares.role })
    .from(shares)
    .where(and(isSharedWith(viewer), eq(shares.role, 'editor')))
  return and(hasUuid(id), or(isAuthor(viewer), exists(editorRole)))
}

/** Finds a note that the viewer may edit, and locks its row until the transaction ends. */
export const findForUpdate = async (db: Database, viewer: Viewer, id: string) =>
  (
    await db
      .select()
      .from(notes)
      .where(isEditable(db, viewer, id))
      .for('update')
  ).at(0)

export const update = async (db: Database, viewer: Viewer, id: string, content: Content) => {
  const [row] = await db
    .update(notes)
    .set({ ...content, ...updatedIfChanged(notes, content) })
    .where(isEditable(db, viewer, id))
    .returning({ id: notes.id })
  return row && find(db, viewer, id)
}

export const remove = async (db: Database, viewer: Viewer, id: string) =>
  (
    await db
      .delete(notes)
      .where(and(hasUuid(id), isAuthor(viewer)))
      .returning({ id: notes.uuid })
  ).at(0)

export const listTitles = (db: Database, userId: string) =>
  db.select({ title: notes.title }).from(notes).where(eq(notes.userId, userId))
