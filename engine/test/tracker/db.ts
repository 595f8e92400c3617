import { and, eq, sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  customType,
  date,
  index,
  jsonb,
  numeric,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  uuid,
} from 'drizzle-orm/pg-core'
import { createdAt, rows, shared, updatedAt, userIdColumn, version, within } from 'tallystick/db'
import { v7 } from 'uuid'

// The rows of a tracker: projects that people share by address, tickets within projects, and comments within tickets.

const id = () => bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity()

export const projects = pgTable(
  'projects',
  { id: id(), userId: userIdColumn(), name: text().notNull(), createdAt, updatedAt, version },
  (table) => [index().on(table.userId, table.createdAt, table.id)],
)

export const projectMembers = pgTable(
  'project_members',
  {
    projectId: bigint({ mode: 'number' })
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    email: text().notNull(),
    role: text({ enum: ['agent', 'viewer', 'guest'] }).notNull(),
    createdAt,
  },
  (table) => [
    primaryKey({ columns: [table.projectId, table.email] }),
    index().on(table.email, table.createdAt, table.projectId),
  ],
)

export const projectRows = rows(projects, {
  visible: shared({ members: projectMembers, names: true }),
  create: ['name'],
  update: ['name'],
})

export const priority = pgEnum('priority', ['low', 'high'])

const bytes = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' })

/** Columns of types that the service does not use. */
export const tickets = pgTable(
  'tickets',
  {
    id: id(),
    projectId: bigint({ mode: 'number' })
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    title: text().notNull(),
    status: text({ enum: ['open', 'closed'] })
      .notNull()
      .default('open'),
    dueAt: date(),
    priority: priority().notNull().default('low'),
    labels: text()
      .array()
      .notNull()
      .default(sql`'{}'`),
    places: jsonb().$type<[number, number][]>(),
    effort: numeric({ precision: 10, scale: 2 }),
    isPrivate: boolean().notNull().default(false),
    key: bytes(),
    reference: uuid().notNull().$defaultFn(v7),
    createdAt,
    updatedAt,
    version,
  },
  (table) => [
    index().on(table.projectId, table.createdAt, table.id),
    index().on(table.projectId, table.dueAt),
  ],
)

export const ticketRows = rows(tickets, {
  visible: within(projectRows, 'projectId'),
  create: ['projectId', 'title', 'dueAt', 'priority', 'labels', 'places', 'effort', 'key'],
  update: ['projectId', 'title', 'status', 'dueAt', 'priority', 'labels', 'places', 'effort'],
  filter: ['status', 'priority'],
  search: ['title'],
  orders: {
    newest: [{ column: 'createdAt', direction: 'desc' }],
    due: [{ column: 'dueAt', nulls: 'last' }, { column: 'title' }],
  },
})

export const comments = pgTable(
  'comments',
  {
    id: id(),
    ticketId: bigint({ mode: 'number' })
      .notNull()
      .references(() => tickets.id, { onDelete: 'cascade' }),
    userId: userIdColumn(),
    text: text().notNull(),
    createdAt,
  },
  (table) => [index().on(table.ticketId, table.createdAt, table.id)],
)

export const commentRows = rows(comments, {
  visible: within(ticketRows, 'ticketId'),
  author: 'userId',
  relations: {
    recentAuthor: ({ id }) =>
      sql`${and(eq(comments.userId, id), sql`${comments.createdAt} > now() - interval '15 minutes'`)}`,
  },
  create: ['ticketId', 'text'],
  update: ['text'],
})
