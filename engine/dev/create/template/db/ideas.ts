import { bigint, index, pgTable, text } from 'drizzle-orm/pg-core'
import { createdAt, rows, updatedAt, userIdColumn, version } from 'tallystick/db'

export const ideas = pgTable(
  'ideas',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    // The owner. The deletion of an account deletes the rows of the account.
    userId: userIdColumn(),
    title: text().notNull(),
    createdAt,
    updatedAt,
    version,
  },
  (table) => [index().on(table.userId, table.createdAt, table.id)],
)

export const ideaRows = rows(ideas, { create: ['title'], update: ['title'], search: ['title'] })
