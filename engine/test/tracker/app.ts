import { eq, sql } from 'drizzle-orm'
import { fileURLToPath } from 'node:url'
import { defineApp, inTransaction, resource } from 'tallystick'

import {
  type Comment,
  comments as commentContract,
  contract,
  type Project,
  projects as projectContract,
  type Ticket,
  tickets as ticketContract,
} from './contract.ts'
import { commentRows, projectRows, ticketRows, tickets as ticketTable } from './db.ts'

const projects = resource(projectContract, projectRows, {
  description: 'Projects, which their owners share by address.',
  permissions: {
    owner: ['VIEW_PROJECT', 'EDIT_PROJECT', 'CREATE_TICKET', 'SHARE_PROJECT'],
    agent: ['VIEW_PROJECT', 'CREATE_TICKET'],
    viewer: ['VIEW_PROJECT'],
    guest: [],
  },
  view: ({ id, name, userId }, { can, person }): Project => ({ id, name, mine: userId === person.id, can }),
  procedures: (os, { page, get, insert, update, remove, members, invite, exclude, leave }) => ({
    list: os.list.handler(page('projects', 'total')),
    get: os.get.handler(get()),
    create: os.create.handler(insert(({ input }) => input)),
    update: os.update.handler(update(({ input }) => input)),
    delete: os.delete.handler(remove()),
    members: os.members.handler(members('members', ({ email, role, name }) => ({ email, role, name }))),
    invite: os.invite.handler(invite(({ input }) => input)),
    exclude: os.exclude.handler(exclude(({ input }) => input.email)),
    leave: os.leave.handler(leave()),
  }),
})

const tickets = resource(ticketContract, ticketRows, {
  description: 'The tickets of projects.',
  permissions: {
    owner: ['EDIT_TICKET', 'READ_TICKET'],
    agent: ['EDIT_TICKET', 'READ_TICKET'],
    viewer: ['READ_TICKET'],
  },
  view: (
    { id, projectId, title, status, dueAt, priority, labels, places, effort, reference },
    { can: { EDIT_TICKET } },
  ): Ticket => ({
    id,
    projectId,
    title,
    status,
    dueAt,
    priority,
    labels,
    places,
    effort,
    reference,
    can: { EDIT_TICKET },
  }),
  procedures: (os, { page, get, insert, update, remove }) => ({
    list: os.list.handler(page('tickets', 'total')),
    create: os.create.handler(insert(({ input }) => ({ ...input, key: new Uint8Array([1, 2]) }))),
    get: os.get.handler(get()),
    update: os.update.handler(update(({ input }) => input)),
    delete: os.delete.handler(remove()),
    close: os.close.handler(async ({ context: { db }, input: { id } }) => {
      await db
        .update(ticketTable)
        .set({ status: 'closed', version: sql`${ticketTable.version} + 1` })
        .where(eq(ticketTable.id, id))
      return { success: true }
    }),
  }),
})

const comments = resource(commentContract, commentRows, {
  description: 'The comments on tickets.',
  permissions: { recentAuthor: ['EDIT_COMMENT'], author: ['DELETE_COMMENT'], owner: ['DELETE_COMMENT'] },
  view: ({ id, text }, { can }): Comment => ({ id, text, can }),
  procedures: (os, { page, insert, update, remove }) => ({
    list: os.list.handler(inTransaction(page('comments'))),
    create: os.create.handler(insert(({ input }) => input)),
    update: os.update.handler(update(({ input }) => input)),
    delete: os.delete.handler(remove()),
  }),
})

export const definition = {
  name: 'Test tracker',
  version: '1.0.0',
  description: 'Projects, tickets and comments.',
  contract,
  migrationsFolder: fileURLToPath(new URL('./migrations', import.meta.url)),
  resources: { projects, tickets, comments },
}

/** An application for the tests of rows: shared by address, within a parent, and within a parent of a parent. */
export const app = defineApp(definition)
