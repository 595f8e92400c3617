import { bigint, index, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { createdAt, rows, shared, updatedAt, userIdColumn, version } from 'tallystick/db'
import { v7 } from 'uuid'

// Papers with a file each, which their authors share by address.

export const papers = pgTable(
  'papers',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    uuid: uuid().notNull().unique().$defaultFn(v7),
    userId: userIdColumn(),
    title: text().notNull(),
    key: uuid().unique(),
    type: text(),
    size: bigint({ mode: 'number' }),
    /** A column that the application does not use. */
    shelf: text(),
    createdAt,
    updatedAt,
    version,
  },
  (table) => [index().on(table.userId, table.createdAt, table.id)],
)

export const readers = pgTable(
  'readers',
  {
    paperId: bigint({ mode: 'number' })
      .notNull()
      .references(() => papers.id, { onDelete: 'cascade' }),
    email: text().notNull(),
    role: text({ enum: ['reader', 'editor'] }).notNull(),
    createdAt,
    updatedAt,
  },
  (table) => [primaryKey({ columns: [table.paperId, table.email] })],
)

export const paperRows = rows(papers, {
  key: 'uuid',
  visible: shared({ members: readers, as: 'author', ownerLeaves: 'delete' }),
  create: ['title'],
  update: ['title', 'key', 'type', 'size'],
})
