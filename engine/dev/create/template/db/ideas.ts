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

export const ideas = pgTable(
  'ideas',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    // The owner. The deletion of an account deletes the rows of the account.
    userId: userIdColumn(),
    title: text().notNull(),
    createdAt,
  },
  (table) => [index().on(table.userId, table.createdAt, table.id)],
)

export type IdeaRow = typeof ideas.$inferSelect

const order = [desc(ideas.createdAt), desc(ideas.id)]

const selectPage = prepared((db) => {
  const rows = db
    .select()
    .from(ideas)
    .where(and(eq(ideas.userId, sql.placeholder('userId')), isAfterPosition(ideas.createdAt, ideas.id)))
    .orderBy(...order)
    .limit(sql.placeholder('limit'))
    .as('ideas')
  return limitBytes(db, rows, getTableColumns(ideas), { texts: [ideas.title], order }).prepare('ideas_list')
})

export const list = (db: Database, userId: string, page: PageRequest): Promise<SizedRow<IdeaRow>[]> =>
  selectPage(listConnections(db)).execute({ userId, ...pageParameters(page) })

export const insert = async (db: Database, userId: string, idea: Pick<IdeaRow, 'title'>) =>
  requireRow(
    await db
      .insert(ideas)
      .values({ userId, ...idea })
      .returning(),
  )

/** Returns whether the person had this idea. */
export const remove = async (db: Database, userId: string, id: number) =>
  (
    await db
      .delete(ideas)
      .where(and(eq(ideas.userId, userId), eq(ideas.id, id)))
      .returning({ id: ideas.id })
  ).length > 0

/** The queries of an export. */
export const exportQueries = (db: Database, { id }: Person) => ({
  ideas: db
    .select()
    .from(ideas)
    .where(eq(ideas.userId, id))
    .orderBy(...order),
})
