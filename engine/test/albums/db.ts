import { bigint, index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { createdAt, rows, shared, timestamptz, updatedAt, userIdColumn, version, within } from 'tallystick/db'
import { v7 } from 'uuid'

// Albums that people share by address, which inputs identify by a UUID, and photos within albums.

export const albums = pgTable(
  'albums',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    uuid: uuid().notNull().unique().$defaultFn(v7),
    userId: userIdColumn(),
    title: text().notNull(),
    createdAt,
    updatedAt,
    version,
    sharing: integer().notNull().default(0),
  },
  (table) => [index().on(table.userId, table.createdAt, table.id)],
)

export const guests = pgTable(
  'guests',
  {
    albumId: bigint({ mode: 'number' })
      .notNull()
      .references(() => albums.id, { onDelete: 'cascade' }),
    email: text().notNull(),
    role: text({ enum: ['reader', 'editor'] }).notNull(),
    createdAt,
    updatedAt,
    albumCreatedAt: timestamptz().notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.albumId, table.email] }),
    index().on(table.email, table.albumCreatedAt, table.albumId),
  ],
)

export const albumRows = rows(albums, {
  key: 'uuid',
  visible: shared({
    members: guests,
    as: 'author',
    rowCreatedAt: guests.albumCreatedAt,
    count: 'guestCount',
    changes: 'sharing',
    ownerLeaves: 'delete',
  }),
  create: ['title'],
  update: ['title'],
})

export const photos = pgTable(
  'photos',
  {
    id: uuid().primaryKey().$defaultFn(v7),
    albumId: uuid()
      .notNull()
      .references(() => albums.uuid, { onDelete: 'cascade' }),
    title: text().notNull(),
    createdAt,
  },
  (table) => [index().on(table.albumId, table.createdAt, table.id)],
)

export const photoRows = rows(photos, {
  visible: within(albumRows, 'albumId'),
  create: ['albumId', 'title'],
  update: ['albumId', 'title'],
})
