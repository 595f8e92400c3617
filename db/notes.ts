import { and, desc, eq, exists, getTableColumns, or, sql, Subquery } from 'drizzle-orm'
import { bigint, index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { v7, validate } from 'uuid'
import {
  createdAt,
  type Database,
  isAfterPosition,
  limitBytes,
  listConnections,
  pageParameters,
  type PageRequest,
  type Person,
  prepared,
  requireRow,
  type SizedRow,
  timestamptz,
  updatedAt,
  updatedIfChanged,
  userIdColumn,
  version,
} from 'tallystick/db'

/** The notes of both forms in the API. The first form identifies a note by `id`, the second form by `uuid`. */
export const notes = pgTable(
  'notes',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    uuid: uuid().notNull().unique(),
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

export type NoteRow = typeof notes.$inferSelect
export type ShareRow = typeof shares.$inferSelect
export type Role = ShareRow['role']
type Content = Pick<NoteRow, 'title' | 'body'>

/** Condition: the note has this UUID (the id in the second form). An invalid UUID matches no note. */
export const hasUuid = (id: string) => (validate(id) ? eq(notes.uuid, id) : sql`false`)
export const isAuthor = (viewer: Person) => eq(notes.userId, viewer.id)

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

const { version: _, sharing: __, ...listed } = getTableColumns(notes)
export const listedColumns = listed

/** Condition: the person with the id in the placeholder `userId` wrote the note. */
export const isOwn = eq(notes.userId, sql.placeholder('userId'))

const newestFirst = [desc(notes.createdAt), desc(notes.id)]

/** Selects a page of the notes that a person wrote. Placeholders: `userId`, and those of `pageParameters`. */
export const selectOwnPage = (db: Database) =>
  db
    .select(listedColumns)
    .from(notes)
    .where(and(isOwn, isAfterPosition(notes.createdAt, notes.id)))
    .orderBy(...newestFirst)
    .limit(sql.placeholder('limit'))

export const limitOptions = { texts: [notes.title, notes.body], order: newestFirst }

/**
 * Maximum number of notes of other people in a list, a search and an export: the newest. Otherwise, notes that strangers share
 * would hide the person's own notes behind any number of pages, and end each search after its maximum work.
 */
export const MAX_FOREIGN = 1000

/** Selects the newest notes of other people that are shared with the person. An index returns the rows in this order. */
const newestShared = sql`
  select ${shares.noteId}, ${shares.role}, ${shares.noteCreatedAt}
  from ${shares}
  where ${shares.email} = ${sql.placeholder('email')}
  order by ${shares.noteCreatedAt} desc, ${shares.noteId} desc
  limit ${sql.raw(String(MAX_FOREIGN))}`

/**
 * - Own notes and shared notes are two queries, so that each uses an index. With both conditions in one query, PostgreSQL
 *   would use no index.
 * - One subquery counts the shares of all own notes. A count for each note would double the time of the statement.
 * - `shared_with` of the notes of others is 0, because only the author may know the number of shares.
 */
const prepareList = (name: string, isSearch: boolean) =>
  prepared((db) => {
    const limit = sql.placeholder('limit')
    const rows = sql`
    (
      select ${sql.join(Object.values(listedColumns), sql`, `)}, ${shares.role}, 0 as shared_with
      from (${newestShared}) as ${shares} join ${notes} on ${notes.id} = ${shares.noteId}
      where ${and(
        sql`${notes.userId} <> ${sql.placeholder('userId')}`,
        isAfterPosition(shares.noteCreatedAt, shares.noteId),
      )}
      order by ${shares.noteCreatedAt} desc, ${shares.noteId} desc
      limit ${limit}
    ) union all (
      with own as ${selectOwnPage(db)}
      select own.*, null::text as role, coalesce(shared_with, 0) as shared_with
      from own left join (
        select note_id, count(*)::int as shared_with from ${shares}
        where note_id = any(array(select own.id from own))
        group by note_id
      ) as counts on counts.note_id = own.id
    )
    order by created_at desc, id desc
    limit ${limit}`
    const fields = {
      note: listedColumns,
      role: sql<Role | null>`role`,
      sharedWith: sql<number>`shared_with`,
    }
    return limitBytes(db, new Subquery(rows, fields, 'notes'), fields, { ...limitOptions, isSearch }).prepare(
      name,
    )
  })
const listAll = prepareList('notes_list', false)
const search = prepareList('notes_search', true)

/** Lists the viewer's notes and the notes shared with the viewer, newest first. */
export const list = (
  db: Database,
  { id: userId, email }: Person,
  page: PageRequest,
): Promise<SizedRow<ListedNote>[]> =>
  (page.q ? search : listAll)(listConnections(db)).execute({ userId, email, ...pageParameters(page) })

const selectOne = prepared((db) =>
  selectForViewer(db)
    .where(eq(notes.uuid, sql.placeholder('id')))
    .prepare('notes_find'),
)

/**
 * Finds a note by its UUID, with the viewer's role. Also returns notes that the viewer may not read: engine/guard/ checks
 * the permission.
 */
export const find = async (db: Database, { email }: Person, id: string) =>
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
const isEditable = (db: Database, viewer: Person, id: string) => {
  const editorRole = db
    .select({ role: shares.role })
    .from(shares)
    .where(and(eq(shares.noteId, notes.id), eq(shares.email, viewer.email), eq(shares.role, 'editor')))
  return and(hasUuid(id), or(isAuthor(viewer), exists(editorRole)))
}

/** Finds a note that the viewer may edit, and locks its row until the transaction ends. */
export const findForUpdate = async (db: Database, viewer: Person, id: string) =>
  (
    await db
      .select()
      .from(notes)
      .where(isEditable(db, viewer, id))
      .for('update')
  ).at(0)

export const update = async (db: Database, viewer: Person, id: string, content: Content) => {
  const [row] = await db
    .update(notes)
    .set({ ...content, ...updatedIfChanged(notes, content) })
    .where(isEditable(db, viewer, id))
    .returning({ id: notes.id })
  return row && find(db, viewer, id)
}

export const remove = async (db: Database, viewer: Person, id: string) =>
  (
    await db
      .delete(notes)
      .where(and(hasUuid(id), isAuthor(viewer)))
      .returning({ id: notes.uuid })
  ).at(0)

export const listTitles = (db: Database, userId: string) =>
  db.select({ title: notes.title }).from(notes).where(eq(notes.userId, userId))
