interface Props {
  /** How the column orders the rows. Undefined if another column does. */
  order: 'ascending' | 'descending' | undefined
  onSort: () => void
  className?: string
  /** The name of the column. */
  children: string
  /** Shown below the name. */
  note?: string
}

/** The header of a column that orders the rows of a table. */
export const SortableHeader = ({ order, onSort, className, children, note }: Props) => (
  <th scope="col" aria-sort={order} className={className}>
    <button type="button" className="link" onClick={onSort}>
      {children}
      {order && <span aria-hidden="true">{order === 'descending' ? ' ↓' : ' ↑'}</span>}
    </button>
    {note && <small>{note}</small>}
  </th>
)
