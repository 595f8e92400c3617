import { and, asc, count, desc, eq, ilike, type SQL } from 'drizzle-orm'
import { bigint, date, index, pgTable, text } from 'drizzle-orm/pg-core'
import { createdAt, type Database, type Person, requireRow, userIdColumn } from 'tallystick/db'

export const projects = pgTable(
  'projects',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    userId: userIdColumn(),
    name: text().notNull(),
    createdAt,
  },
  (table) => [index().on(table.userId, table.id)],
)

export const tickets = pgTable(
  'tickets',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    projectId: bigint({ mode: 'number' })
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    title: text().notNull(),
    dueAt: date(),
    createdAt,
  },
  (table) => [index().on(table.projectId, table.id)],
)

export type TicketRow = typeof tickets.$inferSelect
export type NewTicket = typeof tickets.$inferInsert

export const ownsProject = (userId: string) => eq(projects.userId, userId)
export const matches = (q: string) => ilike(tickets.title, `%${q}%`)

/** Selects tickets with the project of each. */
export const selectTickets = async (
  db: Database,
  condition: SQL | undefined,
  { order, limit } = { order: desc(tickets.id), limit: 50 },
) =>
  (
    await db
      .select({ ticket: tickets })
      .from(tickets)
      .innerJoin(projects, eq(projects.id, tickets.projectId))
      .where(condition)
      .orderBy(order)
      .limit(limit)
  ).map(({ ticket }) => ticket)

export const countTickets = async (db: Database, condition: SQL | undefined) =>
  requireRow(
    await db
      .select({ total: count() })
      .from(tickets)
      .innerJoin(projects, eq(projects.id, tickets.projectId))
      .where(condition),
  ).total

export const selectOldest = (db: Database, condition: SQL | undefined) =>
  selectTickets(db, condition, { order: asc(tickets.id), limit: 2 })

export const hasProject = async (db: Database, userId: string, id: number) =>
  (await db.$count(projects, and(ownsProject(userId), eq(projects.id, id)))) > 0

export const exportProjects = (db: Database, { id }: Person) => ({
  projects: db.select().from(projects).where(ownsProject(id)).orderBy(projects.id),
})

export const exportTickets = (db: Database, { id }: Person) => ({
  tickets: db
    .select({ ticket: tickets })
    .from(tickets)
    .innerJoin(projects, eq(projects.id, tickets.projectId))
    .where(ownsProject(id))
    .orderBy(tickets.id),
})
