import { bigint, index, pgTable, text } from 'drizzle-orm/pg-core'
import { createdAt, rows, updatedAt, version, within } from 'tallystick/db'

import { gardenRows, gardens } from './gardens.ts'

export const plants = pgTable(
  'plants',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    gardenId: bigint({ mode: 'number' })
      .notNull()
      .references(() => gardens.id, { onDelete: 'cascade' }),
    title: text().notNull(),
    createdAt,
    updatedAt,
    version,
  },
  (table) => [index().on(table.gardenId, table.createdAt, table.id)],
)

export const plantRows = rows(plants, {
  visible: within(gardenRows, 'gardenId'),
  create: ['gardenId', 'title'],
  update: ['title'],
  search: ['title'],
})
