import { bigint, index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { createdAt, rows, shared, updatedAt, userIdColumn, version } from 'tallystick/db'

export const gardens = pgTable(
  'gardens',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    // The owner. The deletion of the account is refused while rows have members: see `ownerLeaves` of `shared`.
    userId: userIdColumn(),
    title: text().notNull(),
    createdAt,
    updatedAt,
    version,
  },
  (table) => [index().on(table.userId, table.createdAt, table.id)],
)

/** The people with access to a garden, by their addresses in lower case. */
export const gardenMembers = pgTable(
  'garden_members',
  {
    gardenId: bigint({ mode: 'number' })
      .notNull()
      .references(() => gardens.id, { onDelete: 'cascade' }),
    email: text().notNull(),
    role: text({ enum: ['editor', 'viewer'] }).notNull(),
    createdAt,
  },
  (table) => [
    primaryKey({ columns: [table.gardenId, table.email] }),
    index().on(table.email, table.createdAt, table.gardenId),
  ],
)

export const gardenRows = rows(gardens, {
  visible: shared({ members: gardenMembers }),
  create: ['title'],
  update: ['title'],
  search: ['title'],
})
