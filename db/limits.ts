import { index, integer, pgTable, text } from 'drizzle-orm/pg-core'

import { timestamptz } from './columns.ts'

/** Counters of the rate limits. The column names are those of rate-limiter-flexible. */
export const limits = pgTable(
  'limits',
  {
    /** The name of the limit, and the person or network whose calls are counted. */
    key: text().primaryKey(),
    points: integer().notNull(),
    expire: timestamptz(),
  },
  (table) => [index().on(table.expire)],
)
