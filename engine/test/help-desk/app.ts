import { implement, ORPCError } from '@orpc/server'
import { and, eq } from 'drizzle-orm'
import { fileURLToPath } from 'node:url'
import { type Context, defineApp, type Resource, withCaller } from 'tallystick'

import { administratorsTopic, contract, ticketsTopic, writersTopic } from './contract.ts'
import * as query from './db.ts'

const os = implement(contract).$context<Context>().use(withCaller)

const projects = {
  description: 'Projects with members.',
  procedures: os.projects.router({
    create: os.projects.create.handler(({ context: { db, user }, input: { name } }) =>
      query.insertProject(db, user, name),
    ),
    invite: os.projects.invite.handler(async ({ context, input: { id: projectId, email }, errors }) => {
      const { db, user, announce } = context
      if (!(await query.findOwnProject(db, user, projectId))) throw errors.NOT_FOUND()
      await db.insert(query.members).values({ projectId, email }).onConflictDoNothing()
      announce(ticketsTopic, { address: email })
      return { success: true }
    }),
    exclude: os.projects.exclude.handler(async ({ context, input: { id: projectId, email }, errors }) => {
      const { db, user, announce } = context
      if (!(await query.findOwnProject(db, user, projectId))) throw errors.NOT_FOUND()
      const { members } = query
      await db.delete(members).where(and(eq(members.projectId, projectId), eq(members.email, email)))
      announce(ticketsTopic, { address: email })
      return { success: true }
    }),
  }),
} satisfies Resource

const tickets = {
  description: 'The tickets in the projects of a person.',
  procedures: os.tickets.router({
    list: os.tickets.list.handler(async ({ context: { db, user }, input }) => ({
      titles: await query.listTickets(db, user, input?.titles),
    })),
    create: os.tickets.create.handler(async ({ context, input: { projectId, title }, errors }) => {
      const { db, user, announce } = context
      if (!(await query.listProjects(db, user)).includes(projectId)) throw errors.NOT_FOUND()
      await db.insert(query.tickets).values({ projectId, userId: user.id, title })
      announce(ticketsTopic, { parent: projectId })
      return { success: true }
    }),
  }),
  watch: { topic: ticketsTopic, listParents: query.listProjects },
} satisfies Resource

const listEntries = async ({ context: { db } }: { context: Context }) => {
  const rows = await db.select().from(query.entries)
  return { entries: rows.map(({ text }) => text) }
}

/** The address that each new entry is announced to. */
export const SUBSCRIBER = 'subscriber@example.com'

const patch = ({ entries }: { entries: string[] }) => ({
  selector: '#entries',
  html: `<output>${entries.length}</output>`,
  signals: {},
})

const entries = {
  description: 'Entries.',
  procedures: os.entries.router({
    forAdministrators: os.entries.forAdministrators.handler(listEntries),
    inPerson: os.entries.inPerson.handler(listEntries),
    forWriters: os.entries.forWriters.handler(listEntries),
    forPrincipals: os.entries.forPrincipals.handler(({ context }) => {
      const { scopes = [], session } = context
      return { seenBy: `${scopes.join(' ')} ${session.impersonatedBy === null ? 'in person' : 'as another'}` }
    }),
    add: os.entries.add.handler(async ({ context: { db, announce }, input: { text, outcome }, errors }) => {
      await db.transaction(async (tx) => {
        await tx.insert(query.entries).values({ text })
        announce(writersTopic, { address: SUBSCRIBER })
        if (outcome === 'rollback') tx.rollback()
      })
      if (outcome === 'nobody') announce(writersTopic)
      if (outcome === 'refusal') throw errors.REFUSED()
      if (outcome === 'failure') throw new ORPCError('INTERNAL_SERVER_ERROR')
      return { success: true }
    }),
  }),
  datastar: { patches: {}, live: { topic: administratorsTopic, patch } },
} satisfies Resource

/** An application for the tests of live updates: data that people share, and lists that only some callers may read. */
export const app = defineApp({
  name: 'Help desk',
  version: '1.0.0',
  description: 'Projects, tickets and entries.',
  contract,
  migrationsFolder: fileURLToPath(new URL('./migrations', import.meta.url)),
  resources: { projects, tickets, entries },
})
