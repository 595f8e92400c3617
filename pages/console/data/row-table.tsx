import type { Rows, Table } from '../../../engine/console/contract.ts'
import { toQuery } from './filters.ts'
import { addressOf } from '../location.ts'

/** Length of a value that is shown on one line, in characters. */
const LINE = 48

/** The rows of a table. Hidden columns have names, but no values. */
export function RowTable({ table: { name, columns }, rows }: { table: Table; rows: Rows }) {
  return (
    <div className="scroll rows" tabIndex={0} role="group" aria-label={`Rows of ${name}`}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col">
                {column.name}
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
