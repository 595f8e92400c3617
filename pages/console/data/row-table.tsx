import type { Rows, RowsRequest, Table } from '../../../engine/console/contract.ts'
import { toQuery } from './filters.ts'
import { addressOf } from '../location.ts'

/** Length of a value that is shown on one line, in characters. */
const LINE = 48

type Sort = RowsRequest['sort']

interface Props {
  table: Table
  rows: Rows
  sort: Sort
  onSort: (sort: Sort) => void
}

/** The next order of a column: ascending, descending, and then the order of the primary key. */
function nextSort(column: string, sort: Sort): Sort {
  if (sort?.column !== column) return { column, isDescending: false }
  return sort.isDescending ? undefined : { column, isDescending: true }
}

/** The rows of a table. Hidden columns have names, but no values. */
export function RowTable({ table: { name, columns }, rows, sort, onSort }: Props) {
  const orderOf = (column: string) =>
    sort?.column !== column ? undefined : sort.isDescending ? 'descending' : 'ascending'
  return (
    <div className="scroll rows" tabIndex={0} role="group" aria-label={`Rows of ${name}`}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" aria-sort={orderOf(column.name)}>
                {column.isHidden ? (
                  column.name
                ) : (
                  <button
                    type="button"
                    className="link"
                    onClick={() => {
                      onSort(nextSort(column.name, sort))
                    }}
                  >
                    {column.name}
                    {sort?.column === column.name && (
                      <span aria-hidden="true">{sort.isDescending ? ' ↓' : ' ↑'}</span>
                    )}
                  </button>
                )}
                <small>{column.isHidden ? 'hidden' : shortType(column.type)}</small>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.rows.map((row, index) => (
            <tr key={index}>
              {columns.map((column) => {
                const value = row[rows.columns.indexOf(column.name)]
                return (
                  <td key={column.name} className={(value?.length ?? 0) > LINE ? 'long' : undefined}>
                    <Value column={column} value={value} />
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Returns PostgreSQL's short name of a type of times, because a long name widens the column. */
const shortType = (type: string) =>
  type.replace(
    /^(timestamp|time)(\(\d\))? with(out)? time zone$/,
    (_, name: string, precision = '', out = '') => `${name}${out ? '' : 'tz'}${precision}`,
  )

interface ValueProps {
  column: Table['columns'][number]
  /** Undefined for a hidden column. */
  value: string | null | undefined
}

/** A value. The value of a foreign key links to the row that the value refers to. */
function Value({ column: { references }, value }: ValueProps) {
  if (value === undefined) return <span className="muted">hidden</span>
  if (value === null) return <span className="muted">null</span>
  if (value === '') return <span className="muted">(empty)</span>
  if (!references) return value
  const { table, column } = references
  const query = toQuery({ filters: [{ column, operator: 'is', value }], page: 0 })
  return <a href={addressOf('data', table, query)}>{value}</a>
}
