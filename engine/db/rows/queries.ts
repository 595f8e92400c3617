import type { Promisable } from '@orpc/shared'
import type { SQLWrapper } from 'drizzle-orm'

import type { Database } from '../connection/database.ts'
import type { Keyset, SortValues } from '../keyset.ts'
import type { PageRequest, Position, SizedRow } from '../pagination.ts'
import type { Person } from '../accounts/users.ts'
import type { Requirements } from './changes.ts'
import type { Leaving } from './leaving.ts'
import type { Sources } from './lists.ts'
import type { createMembers } from './members.ts'
import type { RowsTable } from './options.ts'
import type { Criteria } from './pages.ts'
import type { Visibility } from './visibility.ts'

/** The relations of a person to a row, for example `['owner']` or `['agent', 'author']`. */
export interface Related {
  relations: readonly string[]
}

/** The values that select the rows of a list: of filters, the search `q`, the id of a parent, and the name of the order. */
export type ListSelection = Criteria & { q?: string | undefined; order?: string | undefined }

/**
 * The queries of a table. Each reads or changes only rows that the person may see.
 *
 * @example
 * const book = await bookRows.find(db, user, input.id)
 */
export interface Rows<
  Row = object,
  New = never,
  Changes = never,
  Role extends string = string,
  Table extends RowsTable = RowsTable,
> {
  table: Table
  name: string
  /** The field that identifies a row in the inputs of procedures. */
  key: string
  visibility: Visibility
  /** Whether the rows have a version, which changes compare with `If-Match`. */
  isVersioned: boolean
  /** Whether the ids are texts, for example UUIDs. */
  hasTextIds: boolean
  /** Throws if the declaration has a mistake that only all tables together show. Called at the start. */
  checkDeclaration?: () => void
  /** The keyset of an order. Undefined for the default order of tables without `orders`: newest first. */
  keysetOf: (order: string | undefined, db: Database) => Promisable<Keyset | undefined>
  /** The values that limit the bytes of a page. */
  textsOf: (row: object) => readonly unknown[]
  list: (
    db: Database,
    person: Person,
    page: RowsRequest,
    selection?: ListSelection,
    relations?: readonly string[],
  ) => Promise<SizedRow<Omit<Row, 'version'> & Related>[]>
  /** Counts the rows of a list. */
  total: (
    db: Database,
    person: Person,
    selection?: ListSelection,
    relations?: readonly string[],
  ) => Promise<number>
  /** Finds a row that the person may see. */
  find: (db: Database, person: Person, id: unknown) => Promise<(Row & Related) | undefined>
  /** Returns whether a row has the id, also if the person may not see the row. */
  exists: (db: Database, id: unknown) => Promise<boolean>
  /** Finds a row that the person may see, and locks it until the transaction ends. */
  lock: (tx: Database, person: Person, id: unknown) => Promise<(Row & Related) | undefined>
  /** Inserts a row. Undefined if the person may not see its parent with one of these relations. */
  insert: (
    db: Database,
    person: Person,
    row: New,
    relations?: readonly string[],
  ) => Promise<(Row & Related) | undefined>
  /** Changes a row that fulfills the requirements. Undefined if there is no such row. */
  update: (
    db: Database,
    person: Person,
    id: unknown,
    changes: Changes,
    requirements?: Requirements,
  ) => Promise<(Row & Related) | undefined>
  /** Deletes a row that fulfills the requirements. Returns the deleted row. Undefined if there is no such row. */
  remove: (db: Database, person: Person, id: unknown, requirements?: Requirements) => Promise<Row | undefined>
  /** Deletes all rows that the person owns. */
  clear: (db: Database, person: Person) => PromiseLike<unknown>
  /** The query of an export: the rows that the person owns or wrote, newest first. */
  all: (db: Database, person: Person) => SQLWrapper & PromiseLike<(Row & { relation?: string })[]>
  /** What happens to the rows of an account that ends, if the rows have members. */
  leaving: Leaving | undefined
  /** The people with access to a row by address. Undefined if the rows have no members. */
  members: ReturnType<typeof createMembers<Role>> | undefined
  /** What a list of all rows depends on. Undefined if it depends on the account only. */
  sources: Sources | undefined
}

/** A page, from the beginning of a list or after a position in its order. */
export type RowsRequest = PageRequest<Position | SortValues>
