import { and, desc, eq, or, sql } from 'drizzle-orm'
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'

import { counter } from '../db/counter.ts'
import { notes, shares } from '../db/notes.ts'
import { tasks } from '../db/tasks.ts'

// Queries of the servers in bench/peers/ that use Drizzle, written in the usual style of Drizzle.

type Database = PgDatabase<PgQueryResultHKT>

export const listTasks = (db: Database, userId: string) =>
  db.select().from(tasks).where(eq(tasks.userId, userId)).orderBy(desc(tasks.createdAt), desc(tasks.id))

export const addTask = (db: Database, userId: string, title: string, description?: string) =>
  db.insert(tasks).values({ userId, title, description }).returning()

// Selects shared notes with a subquery, as sql-queries.ts does. With a join condition, PostgreSQL would use no index.
const sharedNotes = (db: Database, email: string) =>
  db.select({ id: shares.noteId }).from(shares).where(eq(shares.email, email))

export const listNotes = (db: Database, userId: string, email: string) =>
  db
    .select({
      uuid: notes.uuid,
      userId: notes.userId,
      title: notes.title,
      body: notes.body,
      updatedAt: notes.updatedAt,
      role: shares.role,
      sharedWith: sql<number>`(select count(*)::int from ${shares} where ${shares.noteId} = ${notes.id})`,
    })
    .from(notes)
    .leftJoin(shares, and(eq(shares.noteId, notes.id), eq(shares.email, email)))
    .where(or(eq(notes.userId, userId), sql`${notes.id} = any(array(${sharedNotes(db, email)}))`))
    .orderBy(desc(notes.createdAt), desc(notes.id))

export const readCounter = (db: Database) => db.select({ count: counter.count }).from(counter)

export const increment = (db: Database) =>
  db
    .update(counter)
    .set({ count: sql`${counter.count} + 1` })
    .returning({ count: counter.count })
