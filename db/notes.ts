import { and, count, desc, eq, getTableColumns, ne } from 'drizzle-orm'
import { bigint, index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import {
  createdAt,
  type Database,
  type Person,
  rows,
  shared,
  timestamptz,
  updatedAt,
  userIdColumn,
  version,
} from 'tallystick/db'
import { v7 } from 'uuid'

/** The notes of both forms in the API. The first form identifies a note by `id`, the second form by `uuid`. */
export const notes = pgTable(
  'notes',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    uuid: uuid().notNull().unique().$defaultFn(v7),
    userId: userIdColumn(),
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
 * People with access to a note, identified by e-mail address in lower case. A row is valid even if no account has the address.
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

const fields = { create: ['title', 'body'], update: ['title', 'body'], search: ['title', 'body'] } as const

/** The notes in the second form: the notes of the person, and the notes that others share with the person. */
export const noteRows = rows(notes, {
  ...fields,
  key: 'uuid',
  visible: shared({
    members: shares,
    // The relation of the owner in the table of permissions.
    as: 'author',
    // Copied to each share, so that an index lists the shared notes in order.
    rowCreatedAt: shares.noteCreatedAt,
    // The field with the number of shares, which only the author sees.
    count: 'sharedWith',
    // The column that counts the changes of the shares.
    changes: 'sharing',
    // The notes of a deleted account are deleted, also the notes that others see.
    ownerLeaves: 'delete',
  }),
})

/** The notes in the first form: the notes of the person. */
export const legacyNoteRows = rows(notes, fields)

/** Limits how much other people can add to an export of the person. The export has the newest of their notes. */
const MAX_NOTES_OF_OTHERS = 1000

/** The queries of an export: the person's notes, the shares of these notes, the newest notes shared with the person, and their number. */
export const exportQueries = (db: Database, { id, email }: Person) => {
  const newestFirst = [desc(notes.createdAt), desc(notes.id)]
  const isOwn = eq(notes.userId, id)
  const isOfOthers = and(eq(shares.email, email), ne(notes.userId, id))
  const ofNote = eq(notes.id, shares.noteId)
  return {
    ownNotes: db
      .select()
      .from(notes)
      .where(isOwn)
      .orderBy(...newestFirst),
    ownShares: db
      .select(getTableColumns(shares))
      .from(shares)
      .innerJoin(notes, ofNote)
      .where(isOwn)
      .orderBy(shares.noteId, shares.email),
    notesOfOthers: db
      .select({ id: notes.uuid, title: notes.title, role: shares.role })
      .from(shares)
      .innerJoin(notes, ofNote)
      .where(isOfOthers)
      .orderBy(...newestFirst)
      .limit(MAX_NOTES_OF_OTHERS),
    countOfOthers: db.select({ count: count() }).from(shares).innerJoin(notes, ofNote).where(isOfOthers),
  }
}
