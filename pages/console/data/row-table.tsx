import { MAX_KEY } from '../../../engine/console/bounds.ts'
import type { Rows, RowsRequest, Table } from '../../../engine/console/data/data-contract.ts'
import { useEmails } from '../person.tsx'
import { SortableHeader } from '../sortable-header.tsx'
import { isAccount, Value } from './value.tsx'

/** Length of a value that is shown on one line, in characters. */
const LINE = 48

type Sort = RowsRequest['sort']

interface Props {
  table: Table
  rows: Rows
  sort: Sort
  onSort: (sort: Sort) => void
  /** The primary key of the open row. */
  open: readonly string[] | undefined
  /** Returns the address of a row. */
  addressOfRow: (key: string[]) => string
}

/** The next order of a column: ascending, descending, and then the order of the primary key. */
function nextSort(column: string, sort: Sort): Sort {
  if (sort?.column !== column) return { column, isDescending: false }
  return sort.isDescending ? undefined : { column, isDescending: true }
}

/** Returns the primary key of a row. Undefined without a key that names the row. */
function keyOf(row: Rows['rows'][number], columns: readonly string[], key: Table['key']) {
  const values = key.map((name) => row[columns.indexOf(name)])
  const isKey = (value: string | null | undefined): value is string =>
    typeof value === 'string' && value.length <= MAX_KEY
  return values.length > 0 && values.every(isKey) ? values : undefined
}

/** The names of columns that tell people which row it is. */
const TELLING = /^(email|name|title|label)$/

/** Columns that tell which row it is come first, after a key of several columns or of a short value, and before a key of UUIDs. */
function inReadingOrder(columns: Table['columns'], key: Table['key']) {
  const rankOf = ({ name, type }: Table['columns'][number]) => {
    if (key.includes(name) && type !== 'uuid' && !type.startsWith('text')) return 0
    return TELLING.test(name) ? 1 : key.includes(name) ? 2 : 3
  }
  return [...columns].sort((a, b) => rankOf(a) - rankOf(b))
}

/** Whether a click is on no link and no button, and selects no text. */
const isOutsideControls = (target: EventTarget) =>
  target instanceof Element && !target.closest('a, button') && getSelection()?.isCollapsed !== false

/** The rows of a table. Hidden columns have names, but no values. A click on a row, or the link in its first column, opens the row. */
export function RowTable({ table, rows, sort, onSort, open, addressOfRow }: Props) {
  const { name, key } = table
  const columns = inReadingOrder(table.columns, key)
  const emails = useEmails(
    columns
      .filter(isAccount)
      .flatMap((column) => rows.rows.flatMap((row) => row[rows.columns.indexOf(column.name)] ?? [])),
  )
  const orderOf = (column: string) =>
    sort?.column !== column ? undefined : sort.isDescending ? 'descending' : 'ascending'
  return (
    <div className="scroll rows" tabIndex={0} role="group" aria-label={`Rows of ${name}`}>
      <table>
        <thead>
          <tr>
            {key.length > 0 && (
              <th scope="col">
                <span className="hidden">Row</span>
              </th>
            )}
            {columns.map((column) =>
              column.isHidden || column.isJson ? (
                <th key={column.name} scope="col">
                  {column.name} <small>{column.isHidden ? 'hidden' : shortType(column.type)}</small>
                </th>
              ) : (
                <SortableHeader
                  key={column.name}
                  order={orderOf(column.name)}
                  onSort={() => {
                    onSort(nextSort(column.name, sort))
                  }}
                  note={shortType(column.type)}
                >
                  {column.name}
                </SortableHeader>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {rows.rows.map((row, index) => {
            const keyOfRow = keyOf(row, rows.columns, key)
            const isOpen = keyOfRow !== undefined && String(keyOfRow) === String(open)
            return (
              <tr
                key={index}
                className={isOpen ? 'selected' : undefined}
                onClick={({ target }) => {
                  if (keyOfRow && isOutsideControls(target)) location.hash = addressOfRow(keyOfRow)
                }}
              >
                {key.length > 0 && (
                  <td>
                    {keyOfRow && (
                      <a
                        href={addressOfRow(keyOfRow)}
                        aria-label={`Open the row ${keyOfRow.join(', ')}`}
                        aria-current={isOpen ? 'true' : undefined}
                      >
                        Open
                      </a>
                    )}
                  </td>
                )}
                {columns.map((column) => {
                  const value = row[rows.columns.indexOf(column.name)]
                  return (
                    <td key={column.name} className={(value?.length ?? 0) > LINE ? 'long' : undefined}>
                      <Value column={column} value={value} emails={emails} isShort />
                    </td>
                  )
                })}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

/** Returns PostgreSQL's short name of a type of times, because a long name widens the column. */
export const shortType = (type: string) =>
  type.replace(
    /^(timestamp|time)(\(\d\))? with(out)? time zone$/,
    (_, name: string, precision = '', out = '') => `${name}${out ? '' : 'tz'}${precision}`,
  )
