import { oc } from '@orpc/contract'
import { z } from 'zod'

import { LAST_PAGE, MAX_FILTERS, MAX_KEY, MAX_TEXT } from '../bounds.ts'

// The tables of the database, for the view Data.

/** The name of a table or a column. PostgreSQL cuts names after 63 bytes. */
const Identifier = z.string().max(63)

/** A text that PostgreSQL can store. */
const Text = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .regex(/^[^\0]*$/, 'Must have no NUL')

const Column = z.object({
  name: z.string(),
  type: z.string(),
  /** Whether the values are never selected, for example because they are secrets. */
  isHidden: z.boolean(),
  isJson: z.boolean(),
  /**
   * The table and the column that the values refer to: by a foreign key, or as the ids of accounts. `isKey`: the column is the primary
   * key of the table, so that a value names a row.
   */
  references: z.object({ table: z.string(), column: z.string(), isKey: z.boolean() }).nullable(),
})

const Table = z.object({
  name: z.string(),
  /** Up to MAX_TOTAL. Above, an estimate of the database. Null for a secret table, and if the count needs too long. */
  rowCount: z.number().nullable(),
  columns: z.array(Column),
  /** Whether the table belongs to the engine, and not to the application. */
  isOfEngine: z.boolean(),
  /** Whether the whole table is secret. */
  isHidden: z.boolean(),
  /** The columns of the primary key, which names a row. Empty without a key, and for a hidden key. */
  key: z.array(z.string()),
})
export type Table = z.infer<typeof Table>

const Filter = z.object({
  column: Identifier,
  /**
   * `is` and `is not`: the whole value as a text. `contains`: a part of the text, in upper or lower case. `greater than` and
   * `less than`: a value of the type. `is empty`: null; ignores `value`.
   */
  operator: z.enum(['is', 'is not', 'contains', 'greater than', 'less than', 'is empty']),
  value: Text(MAX_TEXT),
})
export type Filter = z.infer<typeof Filter>

const RowsRequest = z.object({
  table: Identifier,
  filters: z.array(Filter).max(MAX_FILTERS),
  /** From 0. */
  page: z.int().min(0).max(LAST_PAGE),
  /** By default, the highest primary keys first. */
  sort: z.object({ column: Identifier, isDescending: z.boolean() }).optional(),
})
export type RowsRequest = z.infer<typeof RowsRequest>

const Rows = z.object({
  columns: z.array(z.string()),
  /** The values as PostgreSQL writes them, cut at a limit. */
  rows: z.array(z.array(z.string().nullable())),
  hasMore: z.boolean(),
  /** The number of rows, up to a limit. Null for several pages with filters, whose count could read the whole table. */
  total: z.number().nullable(),
})
export type Rows = z.infer<typeof Rows>

const ExportRequest = RowsRequest.omit({ page: true })
export type ExportRequest = z.infer<typeof ExportRequest>

const Export = z.object({
  columns: z.array(z.string()),
  rows: z.array(z.array(z.string().nullable())),
  /** Whether more rows match, or a value is longer than the limit. */
  isCut: z.boolean(),
})
export type Export = z.infer<typeof Export>

const RowRequest = z.object({
  table: Identifier,
  /** The values of the primary key, in the order of `Table.key`. */
  key: z.array(Text(MAX_KEY)).min(1).max(32),
})
export type RowRequest = z.infer<typeof RowRequest>

const Row = z.object({
  values: z.array(
    z.object({
      column: z.string(),
      value: z.string().nullable(),
      /** Whether the value is longer than the limit. */
      isCut: z.boolean(),
    }),
  ),
  /** The rows that refer to this row, by table and column. */
  referrers: z.array(
    z.object({
      table: z.string(),
      column: z.string(),
      /** The value that the rows have. */
      value: z.string(),
      /** The number of the rows, up to a limit. Null if the database needs too long. */
      count: z.number().nullable(),
    }),
  ),
})
export type Row = z.infer<typeof Row>

const procedure = oc.errors({ NOT_FOUND: {}, BAD_REQUEST: {} })

export const dataContract = {
  tables: procedure.output(z.array(Table)),
  rows: procedure.input(RowsRequest).output(Rows),
  /** The first rows with their whole values, up to a limit. */
  export: procedure.input(ExportRequest).output(Export),
  /** One row with its whole values, and the rows of other tables that refer to the row. */
  row: procedure.input(RowRequest).output(Row),
  /** Adds the sample data of all resources. Skips data that exists. */
  addSamples: procedure.output(z.object({ message: z.string() })),
  /** Deletes the sample accounts with all their rows, and adds the sample data again. */
  resetSamples: procedure.output(z.object({ message: z.string() })),
}
