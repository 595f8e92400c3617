import { index, integer, pgTable, text } from 'drizzle-orm/pg-core'

import { moment } from './columns.ts'

/** How often something was done that is done only so often, by whom, and until when that counts. Names are rate-limiter-flexible's. */
export const limits = pgTable(
  'limits',
  {
    key: text().primaryKey(),
    points: integer().notNull(),
    expire: moment(),
  },
  (table) => [index().on(table.expire)],
)
