import { useMutation, useQuery } from '@tanstack/react-query'

import type { Table } from '../../../engine/console/data/data-contract.ts'
import { client, overviewQuery, queryClient } from '../client.ts'
import { parseSelection } from './filters.ts'
import { addressOf } from '../location.ts'
import { Loaded, Problem } from '../problem.tsx'
import { TableRows } from './table-rows.tsx'
import { tablesQuery } from './tables.ts'

/** The tables of the database with their rows. */
export function Data({ table, query }: { table: string; query: URLSearchParams }) {
  const tables = useQuery(tablesQuery)
  return (
    <Loaded query={tables}>
      {(list) => {
        const selected = list.find(({ name }) => name === table)
        return (
          <div className={table ? 'split has-detail' : 'split'}>
            <section className="list">
              <h2>Data</h2>
              <Samples />
              <h3>Tables</h3>
              <ul>
                {list.map((each) => (
                  <Entry key={each.name} table={each} isCurrent={each === selected} />
                ))}
              </ul>
            </section>
            <div className="detail">
              {table && (
                <a className="back" href={addressOf('data')}>
                  ← All tables
                </a>
              )}
              {selected && !selected.isHidden && (
                <TableRows key={table} table={selected} selection={parseSelection(query)} />
              )}
              {!selected && (
                <section className="empty">
                  <p className="muted">
                    {table ? `The database has no table ${table}.` : 'Select a table to see its rows.'}
                  </p>
                </section>
              )}
              {selected?.isHidden && (
                <section className="empty">
                  <p className="muted">The table {table} contains secrets, which the console never shows.</p>
                </section>
              )}
            </div>
          </div>
        )
      }}
    </Loaded>
  )
}

function Entry({ table: { name, rowEstimate, isHidden }, isCurrent }: { table: Table; isCurrent: boolean }) {
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
        {rowEstimate !== null && (
          <small title="An estimate of the database">
            {rowEstimate} {rowEstimate === 1 ? 'row' : 'rows'}
          </small>
        )}
      </a>
    </li>
  )
}

const listFormat = new Intl.ListFormat('en')

/** The buttons that add sample data, and that begin again with it. Shown only if resources have sample data. */
function Samples() {
  const { data: overview } = useQuery(overviewQuery)
  const { mutate, data, error, isPending, variables } = useMutation({
    mutationFn: (name: 'addSamples' | 'resetSamples') => client.data[name](),
    onSuccess: () => queryClient.invalidateQueries(),
  })
  if (!overview || overview.samples.length === 0) return null
  const accounts = listFormat.format(
    overview.people.filter(({ person }) => person !== 'admin').map(({ email }) => email),
  )
  return (
    <div className="samples">
      <p className="row">
        <button
          type="button"
          className="secondary"
          disabled={isPending}
          aria-busy={isPending && variables === 'addSamples'}
          onClick={() => {
            mutate('addSamples')
          }}
        >
          Add sample data
        </button>
        <button
          type="button"
          className="secondary"
          disabled={isPending}
          aria-busy={isPending && variables === 'resetSamples'}
          onClick={() => {
            if (confirm(`Delete ${accounts} with all their rows, and add the sample data again?`))
              mutate('resetSamples')
          }}
        >
          Reset
        </button>
      </p>
      <p role="status" className="muted">
        {data?.message ?? `Adds rows for ${listFormat.format(overview.samples)}.`}
      </p>
      <Problem
        error={error}
        onRetry={() => {
          if (variables) mutate(variables)
        }}
      />
    </div>
  )
}
