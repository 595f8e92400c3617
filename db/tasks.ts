import { and, count, desc, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import { bigint, index, pgTable, text } from 'drizzle-orm/pg-core'

import { userId } from './auth.ts'
import { createdAt, updatedAt, updatedIfChanged, version } from './columns.ts'
import { coalesced, requireRow, prepared } from './statements.ts'
import type { Database } from './database.ts'
import { isConstraintViolation } from './errors.ts'
import { pageParameters, isAfterPosition, listConnections, type SizedRow, type PageRequest, limitBytes } from './pages.ts'

export const tasks = pgTable(
  'tasks',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    userId: userId(),
    title: text().notNull(),
    description: text(),
    status: text({ enum: ['pending', 'in_progress', 'completed'] })
      .notNull()
      .default('pending'),
    createdAt,
    updatedAt,
    version,
  },
  (table) => [index().on(table.userId, table.createdAt, table.id)],
)

export type TaskRow = typeof tasks.$inferSelect
type Status = TaskRow['status']

const owned = (userId: string, id: number) => and(eq(tasks.userId, userId), eq(tasks.id, id))

const ofPerson = eq(tasks.userId, sql.placeholder('userId'))
const ofStatus = and(ofPerson, eq(tasks.status, sql.placeholder('status')))

const { version: _, userId: __, ...listable } = getTableColumns(tasks)

/** A task in a list, without its state, and whose it is, which is known. */
export type ListedTask = Omit<TaskRow, 'version' | 'userId'>

const order = [desc(tasks.createdAt), desc(tasks.id)]

const lists = (name: string, which: SQL | undefined) =>
  prepared((db) => {
    const rows = db
      .select(listable)
      .from(tasks)
      .where(and(which, isAfterPosition(tasks.createdAt, tasks.id)))
      .orderBy(...order)
      .limit(sql.placeholder('limit'))
      .as('tasks')
    return limitBytes(db, rows, listable, { texts: [tasks.title, tasks.description], order }).prepare(name)
  })
const listed = lists('tasks_list', ofPerson)
const listedByStatus = lists('tasks_list_by_status', ofStatus)

export const list = (db: Database, userId: string, span: PageRequest, status?: Status): Promise<SizedRow<ListedTask>[]> =>
  status === undefined
    ? listed(listConnections(db)).execute({ userId, ...pageParameters(span) })
    : listedByStatus(listConnections(db)).execute({ userId, status, ...pageParameters(span) })

export const listTitles = (db: Database, userId: string) =>
  db.select({ title: tasks.title }).from(tasks).where(eq(tasks.userId, userId))

const counts = (name: string, which: SQL | undefined) =>
  prepared((db) => db.select({ count: count() }).from(tasks).where(which).prepare(name))
const counted = counts('tasks_count', ofPerson)
const countedByStatus = counts('tasks_count_by_status', ofStatus)

/** How many there are in all, whatever part of them was listed. */
export const countAll = async (db: Database, userId: string, status?: Status) =>
  requireRow(
    await (status === undefined
      ? counted(listConnections(db)).execute({ userId })
      : countedByStatus(listConnections(db)).execute({ userId, status })),
  ).count

const found = prepared((db) =>
  db
    .select()
    .from(tasks)
    .where(and(eq(tasks.userId, sql.placeholder('userId')), eq(tasks.id, sql.placeholder('id'))))
    .prepare('tasks_find'),
)

export const find = async (db: Database, userId: string, id: number) =>
  (await found(db).execute({ userId, id })).at(0)

const inserted = prepared((db) =>
  db
    .insert(tasks)
    .values({
      userId: sql.placeholder('userId'),
      title: sql.placeholder('title'),
      description: sql.placeholder('description'),
    })
    .returning()
    .prepare('tasks_insert'),
)

type NewTask = Pick<TaskRow, 'userId' | 'title' | 'description'>

const insertOne = async (db: Database, task: NewTask) => requireRow(await inserted(db).execute({ ...task }))

/** Who adds while others do shares a statement, and its commit, with them; but nobody's failure. */
const inserts = coalesced(4, async (db, added: readonly NewTask[]): Promise<(TaskRow | Error)[]> => {
  const [first] = added
  if (first && added.length === 1) return [await insertOne(db, first)]
  try {
    return await db
      .insert(tasks)
      .values([...added])
      .returning()
  } catch (error) {
    if (!isConstraintViolation(error)) throw error
    return Promise.all(added.map((task) => insertOne(db, task).catch((error: unknown) => error as Error)))
  }
})

export const insert = (
  db: Database,
  userId: string,
  { title, description = null }: { title: string; description?: string | null },
) => inserts(db).load({ userId, title, description })

export const update = async (
  db: Database,
  userId: string,
  id: number,
  changes: {
    title?: string
    description?: string | null
    status?: Status
  },
) =>
  (
    await db
      .update(tasks)
      .set({ ...changes, ...updatedIfChanged(tasks, changes) })
      .where(owned(userId, id))
      .returning()
  ).at(0)

/** A task as it stays until the transaction ends. */
export const findForUpdate = async (db: Database, userId: string, id: number) =>
  (await db.select().from(tasks).where(owned(userId, id)).for('update')).at(0)

export const remove = (db: Database, userId: string, id: number) => db.delete(tasks).where(owned(userId, id))

export const clear = (db: Database, userId: string) => db.delete(tasks).where(eq(tasks.userId, userId))
