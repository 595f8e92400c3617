import { implement } from '@orpc/server'
import { and, desc, eq } from 'drizzle-orm'
import { fileURLToPath } from 'node:url'

import { requireRow, selectWith } from 'tallystick/db'
import { type Context, defineApp, type Resource, withCaller, withoutCaller } from 'tallystick'

import { contract } from './contract.ts'
import * as query from './db.ts'

const { projects, tickets } = query
const os = implement(contract).$context<Context>()
const forPeople = os.use(withCaller)

const view = ({ id, projectId, title, dueAt }: query.TicketRow) => ({ id, projectId, title, dueAt })

const projectProcedures = {
  list: forPeople.projects.list.handler(async ({ context: { db, user } }) => ({
    projects: await db
      .select({ id: projects.id, name: projects.name })
      .from(projects)
      .where(query.ownsProject(user.id))
      .orderBy(desc(projects.id))
      .limit(50),
  })),
  create: forPeople.projects.create.handler(async ({ context: { db, user }, input: { name } }) => {
    const { id } = requireRow(await db.insert(projects).values({ userId: user.id, name }).returning())
    return { id, name }
  }),
  directory: os.use(withoutCaller).projects.directory.handler(async ({ context: { db } }) => ({
    names: (await db.select().from(projects).orderBy(projects.id)).map(({ name }) => name),
    contact: 'desk@example.com',
  })),
}

const isTicket = (userId: string, { projectId, id }: { projectId: number; id: number }) =>
  and(query.ownsProject(userId), eq(tickets.projectId, projectId), eq(tickets.id, id))

const ticketProcedures = {
  list: forPeople.tickets.list.handler(async ({ context: { db, user }, input }) => {
    const condition = and(
      query.ownsProject(user.id),
      input?.projectId === undefined ? undefined : eq(tickets.projectId, input.projectId),
      input?.q === undefined ? undefined : query.matches(input.q),
    )
    const rows = await query.selectTickets(db, condition)
    return { tickets: rows.map(view), total: await query.countTickets(db, condition) }
  }),
  create: forPeople.tickets.create.handler(async ({ context: { db, user }, input, errors }) => {
    if (!(await query.hasProject(db, user.id, input.projectId))) throw errors.NOT_FOUND()
    return insert(db, input)
  }),
  update: forPeople.tickets.update.handler(async ({ context: { db, user }, input, errors }) => {
    const [ticket] = await query.selectTickets(db, isTicket(user.id, input))
    if (!ticket) throw errors.NOT_FOUND()
    const { title = ticket.title, dueAt = ticket.dueAt } = input
    return change(db, ticket.id, { title, dueAt })
  }),
  move: forPeople.tickets.move.handler(async ({ context: { db, user }, input, errors }) => {
    const [ticket] = await query.selectTickets(db, isTicket(user.id, input))
    if (!ticket || !(await query.hasProject(db, user.id, input.to))) throw errors.NOT_FOUND()
    return change(db, ticket.id, { projectId: input.to })
  }),
  delete: forPeople.tickets.delete.handler(async ({ context: { db, user }, input, errors }) => {
    const [ticket] = await query.selectTickets(db, isTicket(user.id, input))
    if (!ticket) throw errors.NOT_FOUND()
    await db.delete(tickets).where(eq(tickets.id, ticket.id))
    return { success: true }
  }),
  dates: forPeople.tickets.dates.handler(async ({ context: { db, user } }) => {
    const rows = await query.selectTickets(db, query.ownsProject(user.id))
    return { dates: rows.flatMap(({ dueAt }) => dueAt ?? []), open: rows.length }
  }),
  oldest: forPeople.tickets.oldest.handler(async ({ context: { db, user } }) => ({
    tickets: (await query.selectOldest(db, query.ownsProject(user.id))).map(view),
  })),
}

export async function insert(db: Context['db'], ticket: query.NewTicket) {
  return view(requireRow(await db.insert(tickets).values(ticket).returning()))
}

export async function change(db: Context['db'], id: number, changes: Partial<query.NewTicket>) {
  return view(requireRow(await db.update(tickets).set(changes).where(eq(tickets.id, id)).returning()))
}

const resources = {
  projects: {
    description: 'The projects of a person.',
    procedures: projectProcedures,
    personalData: {
      select: selectWith(query.exportProjects, ({ projects }) => ({
        projects: projects.map(({ id, name }) => ({ id, name })),
      })),
    },
  },
  tickets: {
    description: 'The tickets of projects.',
    procedures: ticketProcedures,
    personalData: {
      select: selectWith(query.exportTickets, ({ tickets }) => ({
        tickets: tickets.map(({ ticket }) => view(ticket)),
      })),
    },
  },
} satisfies Record<string, Resource>

/** An application for the tests of the laws: rows within rows. */
export const app = defineApp({
  name: 'Test desk',
  version: '1.0.0',
  description: 'Projects and tickets.',
  contract,
  migrationsFolder: fileURLToPath(new URL('./migrations', import.meta.url)),
  resources,
})
