import { index, integer, pgTable, text } from 'drizzle-orm/pg-core'

import { timestamptz } from '../columns.ts'

/** Counters of the rate limits. The library rate-limiter-flexible requires these column names. */
export const rateLimitCounters = pgTable(
  'limits',
  {
    /** The name of the limit, and the person or network to which the count belongs. */
    key: text().primaryKey(),
    points: integer().notNull(),
    expire: timestamptz(),
  },
  (table) => [index().on(table.expire)],
)
