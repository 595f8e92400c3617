import { and, desc, eq, sql } from 'drizzle-orm'
import { bigint, index, pgTable, text } from 'drizzle-orm/pg-core'

import { userId } from './auth.ts'
import { createdAt, updatedAt, updatedBy, version } from './columns.ts'
import { batched, type Database, isViolation, one, prepared } from './index.ts'

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

const listed = prepared((db) =>
  db
    .select()
    .from(tasks)
    .where(eq(tasks.userId, sql.placeholder('userId')))
    .orderBy(desc(tasks.createdAt), desc(tasks.id))
    .prepare('tasks_list'),
)
const listedByStatus = prepared((db) =>
  db
    .select()
    .from(tasks)
    .where(and(eq(tasks.userId, sql.placeholder('userId')), eq(tasks.status, sql.placeholder('status'))))
    .orderBy(desc(tasks.createdAt), desc(tasks.id))
    .prepare('tasks_list_by_status'),
)

export const list = (db: Database, userId: string, status?: Status) =>
  status === undefined ? listed(db).execute({ userId }) : listedByStatus(db).execute({ userId, status })

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

const insertOne = async (db: Database, task: NewTask) => one(await inserted(db).execute({ ...task }))

/** Who adds while others do shares a statement, and its commit, with them; but nobody's failure. */
const inserts = batched(async (db, added: readonly NewTask[]): Promise<(TaskRow | Error)[]> => {
  const [first] = added
  if (first && added.length === 1) return [await insertOne(db, first)]
  try {
    return await db
      .insert(tasks)
      .values([...added])
      .returning()
  } catch (error) {
    if (!isViolation(error)) throw error
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
      .set({ ...changes, ...updatedBy(tasks, changes) })
      .where(owned(userId, id))
      .returning()
  ).at(0)

/** A task as it stays until the transaction ends. */
export const hold = async (db: Database, userId: string, id: number) =>
  (await db.select().from(tasks).where(owned(userId, id)).for('update')).at(0)

export const remove = (db: Database, userId: string, id: number) => db.delete(tasks).where(owned(userId, id))

export const clear = (db: Database, userId: string) => db.delete(tasks).where(eq(tasks.userId, userId))
