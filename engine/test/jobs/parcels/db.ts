import { bigint, index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { createdAt, rows, timestamptz, updatedAt, userIdColumn, version } from 'tallystick/db'

// Parcels of people, and the attempts of jobs to deliver them.

export const parcels = pgTable(
  'parcels',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    userId: userIdColumn(),
    label: text().notNull(),
    createdAt,
    updatedAt,
    version,
  },
  (table) => [index().on(table.userId, table.createdAt, table.id)],
)

export const parcelRows = rows(parcels, { create: ['label'], update: ['label'] })

/** One row for each attempt of a job. */
export const deliveries = pgTable('deliveries', {
  id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  label: text().notNull(),
  attempt: integer().notNull(),
  scheduledFor: timestamptz(),
  process: integer().notNull(),
  createdAt,
})
