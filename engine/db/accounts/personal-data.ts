import type { SQLWrapper } from 'drizzle-orm'

import type { Database } from '../connection/database.ts'
import type { Person } from './users.ts'

/** Queries by name. A query runs when it is awaited. */
type Queries = Readonly<Record<string, SQLWrapper & PromiseLike<unknown>>>

type RowsOf<All extends Queries> = { [Name in keyof All]: Awaited<All[Name]> }

/** A selection of data, before the data is read, so that the size of each query can be measured in the database. */
export interface Selection<Data> {
  queries: readonly SQLWrapper[]
  read: () => Promise<Data>
}

/** What a resource stores about a person. */
export interface PersonalData<Data = object> {
  /** Selects the part of the export of the account. */
  select: (db: Database, person: Person) => Selection<Data>
  /** Removes the rows that belong to a deleted account, but that no foreign key removes. */
  remove?: (tx: Database, person: Person) => PromiseLike<unknown>
  /**
   * Applies `ownerLeaves` to the rows that the person shares. Returns the keys of the live states that show data of the person.
   * Throws `HasSharedItems`. Set by `defineApp`.
   */
  leave?: (tx: Database, person: Person) => Promise<readonly string[]>
  /** The tables that keep the address of a deleted account, in rows of other people. Each with a sentence: the reason. */
  keepsAddressIn?: Readonly<Record<string, string>>
}

/** Runs queries one after the other, because an export is one transaction. Returns the rows of each query under the name of the query. */
async function runQueries<All extends Queries>(queries: All) {
  const rows: Record<string, unknown> = {}
  for (const [name, query] of Object.entries(queries)) rows[name] = await query
  return rows as RowsOf<All>
}

/**
 * Creates the function `select` from the queries and the view, which converts their rows.
 *
 * @example
 * personalData: {
 *   select: selectWith(
 *     (db, { id }) => ({ visits: db.select().from(visits).where(eq(visits.userId, id)) }),
 *     ({ visits }) => ({ visits: visits.map(view) }),
 *   ),
 * }
 */
export const selectWith =
  <All extends Queries, Data>(
    createQueries: (db: Database, person: Person) => All,
    view: (rows: RowsOf<All>, person: Person) => Data,
  ): PersonalData<Data>['select'] =>
  (db, person) => {
    const queries = createQueries(db, person)
    return { queries: Object.values(queries), read: async () => view(await runQueries(queries), person) }
  }

/** Combines the data of several resources. The parts have different fields. */
export const combine = (parts: readonly PersonalData[]): PersonalData => ({
  select(db, person) {
    const selections = parts.map((part) => part.select(db, person))
    return {
      queries: selections.flatMap(({ queries }) => queries),
      async read() {
        let data = {}
        for (const { read } of selections) data = { ...data, ...(await read()) }
        return data
      },
    }
  },
  async remove(tx, person) {
    for (const part of parts) await part.remove?.(tx, person)
  },
  keepsAddressIn: Object.fromEntries(
    parts.flatMap(({ keepsAddressIn = {} }) => Object.entries(keepsAddressIn)),
  ),
})

/** The deletion of an account is refused, because other people can see rows of the account. */
export class HasSharedItems extends Error {
  readonly resources: readonly string[]
  constructor(resources: readonly string[]) {
    super(`Other people can see rows of this account: ${resources.join(', ')}`)
    this.resources = resources
  }
}
