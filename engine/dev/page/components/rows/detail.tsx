import type { ReactNode } from 'react'

/**
 * The details of the open row of a list. In an element with the class `detailed`, CSS places the details beside the list on wide
 * screens, and over the screen on narrow ones. The row then has the class `open`.
 *
 * @example
 * <Row className="item open"><Detail title={title}>{body}</Detail></Row>
 */
export const Detail = ({ title, children }: { title?: string; children: ReactNode }) => (
  <div className="pane" data-title={title}>
    {children}
  </div>
)
