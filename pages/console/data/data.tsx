import { useQuery } from '@tanstack/react-query'

import { MAX_TOTAL } from '../../../engine/console/bounds.ts'
import type { Table } from '../../../engine/console/data/data-contract.ts'
import { parseSelection } from './filters.ts'
import { addressOf, isWide } from '../location.ts'
import { Loaded } from '../problem.tsx'
import { Samples } from './samples.tsx'
import { TableRows } from './table-rows.tsx'
import { tablesQuery } from './tables.ts'

/** The tables of the database with their rows. */
export function Data({ table, query }: { table: string; query: URLSearchParams }) {
  const tables = useQuery(tablesQuery)
  return (
    <Loaded query={tables}>
      {(list) => {
        // Beside the list is space for the first table.
        const name = table || (isWide() ? (list.find(({ isOfEngine }) => !isOfEngine)?.name ?? '') : '')
        const selected = list.find((each) => each.name === name)
        return (
          <div className={table ? 'split has-detail' : 'split'}>
            <section className="list">
              <h2>Data</h2>
              <Samples />
              <h3>Tables</h3>
              <Entries tables={list.filter(({ isOfEngine }) => !isOfEngine)} selected={selected} />
              <h3>Tables of Tallystick</h3>
              <Entries tables={list.filter(({ isOfEngine }) => isOfEngine)} selected={selected} />
            </section>
            <div className="detail">
              {table && (
                <a className="back" href={addressOf('data')}>
                  ← All tables
                </a>
              )}
              {selected && !selected.isHidden && (
                <TableRows key={name} table={selected} selection={parseSelection(query)} />
              )}
              {!selected && (
                <section className="empty">
                  <p className="muted">
                    {name ? `The database has no table ${name}.` : 'Select a table to see its rows.'}
                  </p>
                </section>
              )}
              {selected?.isHidden && (
                <section className="empty">
                  <p className="muted">The table {name} contains secrets, which the console never shows.</p>
                </section>
              )}
            </div>
          </div>
        )
      }}
    </Loaded>
  )
}

const Entries = ({ tables, selected }: { tables: readonly Table[]; selected: Table | undefined }) => (
  <ul>
    {tables.map((each) => (
      <Entry key={each.name} table={each} isCurrent={each === selected} />
    ))}
  </ul>
)

function Entry({ table: { name, rowCount, isHidden }, isCurrent }: { table: Table; isCurrent: boolean }) {
  if (isHidden)
    return (
      <li className="secret">
        <span className="name">{name}</span>
        <small title="The console never shows this table.">secret</small>
      </li>
    )
  return (
    <li>
      <a href={addressOf('data', name)} aria-current={isCurrent ? 'true' : undefined}>
        <span className="name">{name}</span>
        {rowCount !== null && (
          <small>
            {rowCount < MAX_TOTAL ? rowCount : `about ${rowCount}`} {rowCount === 1 ? 'row' : 'rows'}
          </small>
        )}
      </a>
    </li>
  )
}
