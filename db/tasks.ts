import { and, desc, eq } from 'drizzle-orm'
import { bigint, index, pgTable, text } from 'drizzle-orm/pg-core'

import { userId } from './auth.ts'
import { createdAt, updatedAt, updatedBy } from './columns.ts'
import { type Database, one } from './index.ts'

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
  },
  (table) => [index().on(table.userId, table.createdAt, table.id)],
)

export type TaskRow = typeof tasks.$inferSelect
type Status = TaskRow['status']

const owned = (userId: string, id: number) => and(eq(tasks.userId, userId), eq(tasks.id, id))

export const list = (db: Database, userId: string, status?: Status) =>
  db
    .select()
    .from(tasks)
    .where(and(eq(tasks.userId, userId), status && eq(tasks.status, status)))
    .orderBy(desc(tasks.createdAt), desc(tasks.id))

export const find = async (db: Database, userId: string, id: number) =>
  (await db.select().from(tasks).where(owned(userId, id))).at(0)

export const insert = async (db: Database, userId: string, task: { title: string; description?: string }) =>
  one(
    await db
      .insert(tasks)
      .values({ userId, ...task })
      .returning(),
  )

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
      .set({ ...changes, updatedAt: updatedBy(tasks, changes) })
      .where(owned(userId, id))
      .returning()
  ).at(0)

export const remove = (db: Database, userId: string, id: number) => db.delete(tasks).where(owned(userId, id))

export const clear = (db: Database, userId: string) => db.delete(tasks).where(eq(tasks.userId, userId))
