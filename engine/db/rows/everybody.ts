import { sql } from 'drizzle-orm'

import type { VisibilityOf } from './visibility.ts'

/** The relation of every caller to a row that everybody sees, also of callers without an account. */
export const ANYONE = 'anyone'

/**
 * Rows that everybody sees, also callers without an account. The contract says who may change them, for example
 * `administratorsOnly`.
 *
 * @example
 * rows(books, { visible: everybody(), create: ['title'] })
 */
export const everybody = (): VisibilityOf<never> => (table) => {
  const isPermitted = (relations: readonly string[] | undefined) =>
    relations?.includes(ANYONE) === false ? sql`false` : sql`true`
  const relation = sql.raw(`'${ANYONE}'::text`)
  return {
    relations: [ANYONE],
    ownerRelation: 'owner',
    relation: () => relation,
    isVisible: (_, relations) => isPermitted(relations),
    branches: (_, relations) => [
      { from: sql`${table}`, condition: isPermitted(relations), relation, equal: [] },
    ],
  }
}
