import { and, desc, eq, getTableColumns, sql } from 'drizzle-orm'
import { bigint, index, pgTable, text } from 'drizzle-orm/pg-core'
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
  userIdColumn,
} from 'tallystick/db'

export const bookmarks = pgTable(
  'bookmarks',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    // The owner. The deletion of an account deletes the rows of the account.
    userId: userIdColumn(),
    url: text().notNull(),
    title: text().notNull(),
    createdAt,
  },
  (table) => [index().on(table.userId, table.createdAt, table.id)],
)

export type BookmarkRow = typeof bookmarks.$inferSelect

const order = [desc(bookmarks.createdAt), desc(bookmarks.id)]

const selectPage = prepared((db) => {
  const rows = db
    .select()
    .from(bookmarks)
    .where(
      and(
        eq(bookmarks.userId, sql.placeholder('userId')),
        isAfterPosition(bookmarks.createdAt, bookmarks.id),
      ),
    )
    .orderBy(...order)
    .limit(sql.placeholder('limit'))
    .as('bookmarks')
  const texts = [bookmarks.url, bookmarks.title]
  return limitBytes(db, rows, getTableColumns(bookmarks), { texts, order }).prepare('bookmarks_list')
})

export const list = (db: Database, userId: string, page: PageRequest): Promise<SizedRow<BookmarkRow>[]> =>
  selectPage(listConnections(db)).execute({ userId, ...pageParameters(page) })

export const insert = async (db: Database, userId: string, bookmark: Pick<BookmarkRow, 'url' | 'title'>) =>
  requireRow(
    await db
      .insert(bookmarks)
      .values({ userId, ...bookmark })
      .returning(),
  )

/** Returns whether the person had the bookmark. */
export const remove = async (db: Database, userId: string, id: number) =>
  (
    await db
      .delete(bookmarks)
      .where(and(eq(bookmarks.userId, userId), eq(bookmarks.id, id)))
      .returning({ id: bookmarks.id })
  ).length > 0

/** The queries of an export. */
export const exportQueries = (db: Database, { id }: Person) => ({
  bookmarks: db
    .select()
    .from(bookmarks)
    .where(eq(bookmarks.userId, id))
    .orderBy(...order),
})
