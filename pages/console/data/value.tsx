import type { Table } from '../../../engine/console/data/data-contract.ts'
import { MAX_KEY } from '../../../engine/console/bounds.ts'
import { addressOf } from '../location.ts'
import { toQuery } from './filters.ts'

type Column = Table['columns'][number]

/** Whether the values are ids of accounts. */
export const isAccount = ({ references }: Column) =>
  references?.table === 'users' && references.column === 'id'

interface Props {
  column: Column
  /** Undefined for a hidden column. */
  value: string | null | undefined
  /** The addresses of people by their ids. */
  emails: ReadonlyMap<string, string>
}

/** A value. A value that refers to a row links to the row. The id of an account has the address of the person beside. */
export function Value({ column, value, emails }: Props) {
  const { references } = column
  if (value === undefined) return <span className="muted">hidden</span>
  if (value === null) return <span className="muted">null</span>
  if (value === '') return <span className="muted">(empty)</span>
  if (!references || value.length > MAX_KEY) return value
  const email = isAccount(column) ? emails.get(value) : undefined
  // Without a foreign key, not each id belongs to an account: `operator`, or a deleted account.
  if (isAccount(column) && email === undefined) return value
  const filters = [{ column: references.column, operator: 'is' as const, value }]
  const address = addressOf(
    'data',
    references.table,
    toQuery({ filters, page: 0, ...(references.isKey && { row: [value] }) }),
  )
  return (
    <>
      <a href={address}>{value}</a>
      {email && <small className="muted"> {email}</small>}
    </>
  )
}
