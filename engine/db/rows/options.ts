import type { InferInsertModel, InferSelectModel } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'

import type { Database } from '../connection/database.ts'
import type { SortKey } from '../keyset.ts'
import type { Person } from '../accounts/users.ts'
import type { RowRelations } from './row-relations.ts'
import type { VisibilityOf } from './visibility.ts'

// What an application declares about the rows of a table.

export type RowsTable = PgTable & { id: PgColumn }

export type FieldOf<Table extends PgTable> = keyof InferSelectModel<Table> & string
export type InsertableOf<Table extends PgTable> = keyof InferInsertModel<Table> & FieldOf<Table>

/** A column by which a list is sorted. */
export interface SortField<Field extends string> extends Omit<SortKey, 'column'> {
  column: Field
}

/** Who may see a row. By default, the account in the column `userId`: `owned()`. */
type Visible<Table extends RowsTable, Role extends string, Count extends string> =
  'userId' extends FieldOf<Table>
    ? { visible?: VisibilityOf<FieldOf<Table>, Role, Count> }
    : { visible: VisibilityOf<FieldOf<Table>, Role, Count> }

/** The values of a new row. */
export type NewRow<Table extends PgTable, Create extends PropertyKey> = Pick<
  InferInsertModel<Table>,
  Create & keyof InferInsertModel<Table>
>

/** The values of a change. An omitted field keeps its value. */
export type ChangesOf<Table extends PgTable, Update extends PropertyKey> = {
  [Field in Update & keyof InferInsertModel<Table>]?: InferInsertModel<Table>[Field] | undefined
}

/** How an application uses the rows of a table. `Role`: a role of members. `Count`: the field with the number of members. */
export type RowsOptions<
  Table extends RowsTable,
  Create extends InsertableOf<Table>,
  Update extends InsertableOf<Table>,
  Filter extends FieldOf<Table>,
  OrderName extends string,
  Role extends string = never,
  Count extends string = never,
> = Visible<Table, Role, Count> & {
  /**
   * The field that identifies a row in the inputs of procedures, and to which the rows within a row refer: `id` by default.
   * Another column must be unique.
   */
  key?: FieldOf<Table>
  /** The fields that a new row gets from the caller. The database or `$defaultFn` sets the others. */
  create: readonly Create[]
  /** The fields that a change can set. */
  update?: readonly Update[]
  /** The fields by whose values a list can be filtered. */
  filter?: readonly Filter[]
  /** The fields with texts that `q` searches. */
  search?: readonly FieldOf<Table>[]
  /**
   * The orders of a list by name: `{ due: [{ column: 'dueAt' }] }`. The first is the default. The id is always the last column. By
   * default, the newest row is first.
   */
  orders?: Readonly<Record<OrderName, readonly SortField<FieldOf<Table>>[]>>
  /** The field with the account that creates a row within a parent. The person has the relation `author`. */
  author?: FieldOf<Table>
  /** Further relations of a person to a row that the person sees, by name. Each is a condition on the row. */
  relations?: RowRelations
  /** Counts the rows of a list without a search, faster than `count(*)`. */
  total?: (
    db: Database,
    person: Person,
    filter: { [Key in Filter]?: InferSelectModel<Table>[Key] | undefined },
  ) => Promise<number>
}
