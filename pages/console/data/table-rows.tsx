import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'

import { LAST_PAGE, MAX_TOTAL, PAGE_SIZE } from '../../../engine/console/bounds.ts'
import type { Table } from '../../../engine/console/data/data-contract.ts'
import { client } from '../client.ts'
import { Export } from './export.tsx'
import { FilterBar } from './filter-bar.tsx'
import { type Selection, toQuery } from './filters.ts'
import { addressOf } from '../location.ts'
import { Loaded } from '../problem.tsx'
import { RowDetails } from './row-details.tsx'
import { RowTable } from './row-table.tsx'

function nothingText({ filters, page }: Selection) {
  if (page > 0) return 'This page has no rows.'
  return filters.length > 0 ? 'No row matches the filters.' : 'The table has no rows.'
}

const totalText = (total: number | null) =>
  total === null ? '' : ` of ${total < MAX_TOTAL ? total : `${MAX_TOTAL} or more`}`

/** The rows of a table, with filters and pages, and the open row. */
export function TableRows({ table, selection }: { table: Table; selection: Selection }) {
  const { name } = table
  const { filters, page, sort, row } = selection
  const query = useQuery({
    queryKey: ['rows', name, { filters, page, sort }],
    queryFn: ({ signal }) =>
      client.data.rows({ table: name, filters, page, ...(sort && { sort }) }, { signal }),
    placeholderData: keepPreviousData,
  })
  const open = (next: Selection) => {
    location.hash = addressOf('data', name, toQuery(next))
  }
  const addressOfRow = (key: string[]) => addressOf('data', name, toQuery({ ...selection, row: key }))
  const list = useFocusAfterClose(row && addressOfRow(row))
  const { isFetching } = query
  return (
    <div className={row ? 'with-row' : undefined}>
      <section ref={list}>
        <div className="row head">
          <h2 className="grow">{name}</h2>
          <button
            type="button"
            className="secondary"
            aria-busy={isFetching}
            onClick={() => {
              void query.refetch()
            }}
          >
            Refresh
          </button>
          <Export key={JSON.stringify([filters, sort])} table={table} selection={selection} />
        </div>
        <FilterBar
          table={table}
          filters={filters}
          onChange={(next) => {
            open({ ...selection, filters: next, page: 0 })
          }}
        />
        <Loaded query={query}>
          {(rows) => {
            const count = rows.rows.length
            return (
              <>
                <RowTable
                  table={table}
                  rows={rows}
                  sort={sort}
                  onSort={(next) => {
                    open({ ...selection, sort: next, page: 0 })
                  }}
                  open={row}
                  addressOfRow={addressOfRow}
                />
                <div className="row pages">
                  <p role="status" className={count === 0 ? 'muted grow none' : 'muted grow'}>
                    {count === 0
                      ? nothingText(selection)
                      : `Rows ${page * PAGE_SIZE + 1} to ${page * PAGE_SIZE + count}${totalText(rows.total)}`}
                  </p>
                  {(page > 0 || rows.hasMore) && (
                    <>
                      <button
                        type="button"
                        className="secondary"
                        disabled={page === 0}
                        onClick={() => {
                          open({ ...selection, page: page - 1 })
                        }}
                      >
                        Previous
                      </button>
                      <button
                        type="button"
                        className="secondary"
                        disabled={!rows.hasMore || page >= LAST_PAGE}
                        onClick={() => {
                          open({ ...selection, page: page + 1 })
                        }}
                      >
                        Next
                      </button>
                    </>
                  )}
                </div>
              </>
            )
          }}
        </Loaded>
      </section>
      {row && (
        <RowDetails
          table={table}
          row={row}
          onClose={() => {
            const { row: _closed, ...rest } = selection
            open(rest)
          }}
        />
      )}
    </div>
  )
}

/** Returns a ref for the list of rows, in which the link of the row receives the focus after the row is closed. */
function useFocusAfterClose(address: string | undefined) {
  const list = useRef<HTMLElement>(null)
  const previous = useRef(address)
  useEffect(() => {
    if (previous.current !== undefined && address === undefined)
      list.current?.querySelector<HTMLElement>(`[href=${JSON.stringify(previous.current)}]`)?.focus()
    previous.current = address
  }, [address])
  return list
}
