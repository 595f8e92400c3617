import { type ReactNode, useId } from 'react'

import { useModal } from '../../engine/dev/page/components/use-modal.ts'

interface Props {
  title: string
  /** What the button that confirms says. */
  action: string
  onConfirm: () => void
  onClose: () => void
  /** The consequences. */
  children: ReactNode
}

/** Asks before something is lost. The safe answer has the focus first. */
export function Question({ title, action, onConfirm, onClose, children }: Props) {
  const id = useId()
  return (
    <dialog {...useModal(onClose)} className="question" aria-labelledby={id} aria-describedby={`${id}-text`}>
      <article>
        <h3 id={id}>{title}</h3>
        <p id={`${id}-text`}>{children}</p>
        <div className="row">
          <button type="button" className="secondary" onClick={onClose}>
            Cancel
          </button>
          <button
            type="button"
            className="destructive"
            onClick={() => {
              onConfirm()
              onClose()
            }}
          >
            {action}
          </button>
        </div>
      </article>
    </dialog>
  )
}
