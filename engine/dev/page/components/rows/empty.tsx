import type { ReactNode } from 'react'

interface Props {
  /** One sentence: why the list is empty, and the next step. */
  text?: string
  /** One action, for example a button. */
  children?: ReactNode
}

/**
 * The place of an empty list: a drawing and one sentence.
 *
 * @example
 * <Empty text={t('noIdeas')}>
 *   <AddSamples />
 * </Empty>
 */
export const Empty = ({ text, children }: Props) => (
  <div className="empty">
    <svg viewBox="0 0 64 40" aria-hidden="true">
      <path d="M14 8v24M24 8v24M34 8v24M44 8v24M6 28L54 12" />
    </svg>
    {text && <p className="muted">{text}</p>}
    {children}
  </div>
)
