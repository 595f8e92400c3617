import type { Table } from '../../../engine/console/data/data-contract.ts'
import { MAX_KEY } from '../../../engine/console/bounds.ts'
import { Copy } from '../code/copy.tsx'
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
  /** Whether UUIDs are shortened, as in a list of rows. */
  isShort?: boolean
}

/**
 * A value. A value that refers to a row links to the row. The address of a person stands for the id of the account, or before it. A
 * shortened UUID has the whole as its title, and a button that copies the whole.
 */
export function Value({ column, value, emails, isShort = false }: Props) {
  const { references } = column
  if (value === undefined) return <span className="muted">hidden</span>
  if (value === null) return <span className="muted">null</span>
  if (value === '') return <span className="muted">(empty)</span>
  const short = isShort && UUID.test(value) ? <ShortId id={value} name={column.name} /> : value
  if (!references || value.length > MAX_KEY) return short
  const email = isAccount(column) ? emails.get(value) : undefined
  // Without a foreign key, not each id belongs to an account: `operator`, or a deleted account.
  if (isAccount(column) && email === undefined) return short
  const filters = [{ column: references.column, operator: 'is' as const, value }]
  const address = addressOf(
    'data',
    references.table,
    toQuery({ filters, page: 0, ...(references.isKey && { row: [value] }) }),
  )
  return (
    <>
      <a href={address} title={value}>
        {email ?? (isShort ? shorten(value) : value)}
      </a>{' '}
      {email !== undefined && !isShort && <small className="muted">{value}</small>}
      {isShort && UUID.test(value) && <Copy text={value} what={column.name} />}
    </>
  )
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

const shorten = (id: string) => (UUID.test(id) ? `${id.slice(0, 8)}…` : id)

const ShortId = ({ id, name }: { id: string; name: string }) => (
  <>
    <span title={id}>{shorten(id)}</span> <Copy text={id} what={name} />
  </>
)
