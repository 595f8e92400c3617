import { and, desc, eq, getTableColumns, or, sql } from 'drizzle-orm'
import type { AnyPgColumn, PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'

import { counter } from '../../db/counter.ts'
import { notes, shares } from '../../db/notes.ts'
import { tasks } from '../../db/tasks.ts'

const person = sql.placeholder('userId')
const limit = sql.placeholder('limit')

const seconds = (column: AnyPgColumn) => sql<number>`floor(extract(epoch from ${column}))::int`
const milliseconds = (column: AnyPgColumn) => sql<number>`floor(extract(epoch from ${column}) * 1000)::float8`

const { version: _, ...columns } = getTableColumns(tasks)
const taskColumns = { ...columns, createdAt: seconds(tasks.createdAt), updatedAt: seconds(tasks.updatedAt) }

/** Prepares the statements of the peers that use Drizzle. */
export function prepareQueries(db: PgDatabase<PgQueryResultHKT>) {
  const listTasks = (name: string, isListed = eq(tasks.userId, person)) =>
    db
      .select(taskColumns)
      .from(tasks)
      .where(isListed)
      .orderBy(desc(tasks.createdAt), desc(tasks.id))
      .limit(limit)
      .prepare(name)
  // Selects shared notes with a subquery, as sql-queries.ts does. With a join condition, PostgreSQL would use no index.
  const sharedNotes = db
    .select({ id: shares.noteId })
    .from(shares)
    .where(eq(shares.email, sql.placeholder('email')))
  return {
    listTasks: listTasks('tasks'),
    listTasksByStatus: listTasks(
      'tasks_by_status',
      and(eq(tasks.userId, person), eq(tasks.status, sql.placeholder('status'))),
    ),
    addTask: db
      .insert(tasks)
      .values({
        userId: person,
        title: sql.placeholder('taskTitle'),
        description: sql.placeholder('taskDesc'),
      })
      .returning(taskColumns)
      .prepare('add_task'),
    listNotes: db
      .select({
        uuid: notes.uuid,
        userId: notes.userId,
        title: notes.title,
        body: notes.body,
        updatedAt: milliseconds(notes.updatedAt),
        role: shares.role,
        sharedWith: sql<number>`(select count(*)::int from ${shares} where ${shares.noteId} = ${notes.id})`,
      })
      .from(notes)
      .leftJoin(shares, and(eq(shares.noteId, notes.id), eq(shares.email, sql.placeholder('email'))))
      .where(or(eq(notes.userId, person), sql`${notes.id} = any(array(${sharedNotes}))`))
      .orderBy(desc(notes.createdAt), desc(notes.id))
      .limit(limit)
      .prepare('notes'),
    readCounter: db.select({ count: counter.count }).from(counter).prepare('count'),
    increment: db
      .update(counter)
      .set({ count: sql`${counter.count} + 1` })
      .returning({ count: counter.count })
      .prepare('increment'),
  }
}
