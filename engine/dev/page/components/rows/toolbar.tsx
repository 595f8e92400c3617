import type { ReactNode } from 'react'

/**
 * The line above a list: a filter, a search, the number of the items.
 *
 * @example
 * <Toolbar><Search {...search} /></Toolbar>
 */
export const Toolbar = ({ children }: { children: ReactNode }) => (
  <div className="row toolbar">{children}</div>
)
