import { type ReactNode, useId } from 'react'

import { useLanguage } from '../language.tsx'
import { Problem } from './problem.tsx'
import { useModal } from './use-modal.ts'

interface Props {
  title: string
  /** Name of the button that confirms. */
  action: string
  onConfirm: () => void
  onClose: () => void
  isPending?: boolean
  isDisabled?: boolean
  error?: unknown
  /** The consequences, and fields if the person must enter something. */
  children: ReactNode
}

/**
 * Asks for a confirmation. A view shows the component while the question is open. Afterwards, the browser returns the
 * focus to the element that had the focus before.
 */
export function Confirm({
  title,
  action,
  onConfirm,
  onClose,
  isPending = false,
  isDisabled = false,
  error,
  children,
}: Props) {
  const { t } = useLanguage()
  const titleId = useId()
  return (
    <dialog {...useModal(onClose)} aria-labelledby={titleId}>
      <article>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            onConfirm()
          }}
        >
          <h2 id={titleId}>{title}</h2>
          {children}
          <Problem error={error} />
          <div className="row actions">
            <button type="button" className="secondary" onClick={onClose}>
              {t('cancel')}
            </button>
            <button className="danger" aria-busy={isPending} disabled={isPending || isDisabled}>
              {action}
            </button>
          </div>
        </form>
      </article>
    </dialog>
  )
}
