import { and, desc, eq, inArray, like, or } from 'drizzle-orm'
import { bigint, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { type Database, type Person, requireRow, userIdColumn } from 'tallystick/db'

export const projects = pgTable('projects', {
  id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  userId: userIdColumn(),
  name: text().notNull(),
})
export const members = pgTable(
  'members',
  { projectId: bigint({ mode: 'number' }).notNull(), email: text().notNull() },
  (table) => [primaryKey({ columns: [table.projectId, table.email] })],
)
export const tickets = pgTable('tickets', {
  id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  projectId: bigint({ mode: 'number' }).notNull(),
  userId: userIdColumn(),
  title: text().notNull(),
})
export const entries = pgTable('entries', {
  id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  text: text().notNull(),
})

const selectProjects = (db: Database, person: Person) =>
  db
    .selectDistinct({ id: projects.id })
    .from(projects)
    .leftJoin(members, eq(members.projectId, projects.id))
    .where(or(eq(projects.userId, person.id), eq(members.email, person.email)))

/** Lists the projects that the person owns, or is a member of. */
export const listProjects = async (db: Database, person: Person) =>
  (await selectProjects(db, person)).map((row) => row.id)

export const findProject = async (db: Database, person: Person, projectId: number) =>
  (await listProjects(db, person)).includes(projectId)
    ? (await db.select().from(projects).where(eq(projects.id, projectId))).at(0)
    : undefined

export const findOwnProject = async (db: Database, person: Person, projectId: number) =>
  (
    await db
      .select({ id: projects.id })
      .from(projects)
      .where(and(eq(projects.id, projectId), eq(projects.userId, person.id)))
  ).at(0)

export const insertProject = async (db: Database, person: Person, name: string) =>
  requireRow(await db.insert(projects).values({ userId: person.id, name }).returning({ id: projects.id }))

/** Lists the titles of the tickets in the projects of the person: all, or those in a set. */
export async function listTickets(db: Database, person: Person, titles?: Set<string>) {
  const isVisible = inArray(tickets.projectId, selectProjects(db, person))
  const rows = await db
    .select({ title: tickets.title })
    .from(tickets)
    .where(and(isVisible, titles && inArray(tickets.title, [...titles])))
    .orderBy(desc(tickets.id))
    .limit(50)
  return rows.map(({ title }) => title)
}

/** Lists the titles of the tickets of a project, newest first: all, or those that contain a text. */
export async function listBacklog(db: Database, projectId: number, search = '') {
  const isFound = and(eq(tickets.projectId, projectId), like(tickets.title, `%${search}%`))
  const rows = await db.select().from(tickets).where(isFound).orderBy(desc(tickets.id))
  return rows.map(({ title }) => title)
}
