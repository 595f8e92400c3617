import { index, integer, pgTable, text } from 'drizzle-orm/pg-core'

import { timestamptz } from './columns.ts'

/** How often something was done that is done only so often, by whom, and until when that counts. Names are rate-limiter-flexible's. */
export const limits = pgTable(
  'limits',
  {
    key: text().primaryKey(),
    points: integer().notNull(),
    expire: timestamptz(),
  },
  (table) => [index().on(table.expire)],
)
