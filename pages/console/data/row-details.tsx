import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'

import { MAX_REFERRERS } from '../../../engine/console/bounds.ts'
import type { Row, Table } from '../../../engine/console/data/data-contract.ts'
import { client } from '../client.ts'
import { Code, prettyJson } from '../code/copy.tsx'
import { addressOf } from '../location.ts'
import { useEmails } from '../person.tsx'
import { Loaded } from '../problem.tsx'
import { toQuery } from './filters.ts'
import { shortType } from './row-table.tsx'
import { isAccount, Value } from './value.tsx'

/** Length of a value that is shown without a button that copies the value, in characters. */
const SHORT = 100

interface Props {
  table: Table
  /** The primary key. */
  row: string[]
  onClose: () => void
}

/** A row with its whole values, and links to the rows that refer to the row. The heading receives the focus. */
export function RowDetails({ table, row, onClose }: Props) {
  const query = useQuery({
    queryKey: ['row', table.name, ...row],
    queryFn: ({ signal }) => client.data.row({ table: table.name, key: row }, { signal }),
  })
  const heading = useRef<HTMLHeadingElement>(null)
  const name = row.join(', ')
  useEffect(() => {
    heading.current?.focus()
  }, [name])
  return (
    <section
      className="details"
      aria-label="Row"
      onKeyDown={({ key }) => {
        if (key === 'Escape') onClose()
      }}
    >
      <div className="row head">
        <h2 ref={heading} className="grow" tabIndex={-1}>
          {table.name} {name}
        </h2>
        <button type="button" className="secondary" onClick={onClose}>
          Close
        </button>
      </div>
      <Loaded query={query}>
        {({ values, referrers }) => (
          <>
            <Values table={table} values={values} />
            <Referrers referrers={referrers} />
          </>
        )}
      </Loaded>
    </section>
  )
}

/** JavaScript would round numbers with so many digits. */
const hasLongNumber = (text: string) => /\d{16}/.test(text)

function Values({ table: { columns }, values }: { table: Table; values: Row['values'] }) {
  const found = columns.map((column) => ({
    ...values.find((each) => each.column === column.name),
    column,
    name: column.name,
  }))
  const emails = useEmails(found.flatMap(({ column, value }) => (isAccount(column) ? (value ?? []) : [])))
  return (
    <dl className="values">
      {found.map(({ column, name, value, isCut }) => (
        <div key={name}>
          <dt>
            {name} <small>{shortType(column.type)}</small>
          </dt>
          <dd>
            {value && value.length > SHORT ? (
              <Code
                text={column.isJson && !hasLongNumber(value) ? prettyJson(value) : value}
                name={`the value of ${name}`}
              />
            ) : (
              <Value column={column} value={value} emails={emails} />
            )}
            {isCut && <small className="muted">The value is longer. The console shows its beginning.</small>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

function countText(count: number | null) {
  if (count === null) return 'too many to count'
  return count < MAX_REFERRERS ? String(count) : `${MAX_REFERRERS} or more`
}

/** The rows of all tables that refer to the row. */
function Referrers({ referrers }: Pick<Row, 'referrers'>) {
  const [found, none] = [true, false].map((isFound) =>
    referrers.filter(({ count }) => (count !== 0) === isFound),
  )
  if (referrers.length === 0) return null
  return (
    <>
      <h3>Rows that refer to this row</h3>
      {found && found.length > 0 && (
        <ul className="referrers">
          {found.map(({ table, column, value, count }) => (
            <li key={`${table} ${column}`}>
              <a
                href={addressOf(
                  'data',
                  table,
                  toQuery({ filters: [{ column, operator: 'is', value }], page: 0 }),
                )}
              >
                {table}.{column}
              </a>{' '}
              <small>{countText(count)}</small>
            </li>
          ))}
        </ul>
      )}
      {none && none.length > 0 && (
        <p className="muted">None in {none.map(({ table, column }) => `${table}.${column}`).join(', ')}.</p>
      )}
    </>
  )
}
