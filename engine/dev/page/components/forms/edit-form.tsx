import type { ReactNode } from 'react'

import { useLanguage } from '../../language.tsx'
import type { FieldRules } from './bounds.ts'
import { Problem } from '../problem.tsx'
import { Waiting } from '../waiting.tsx'

export interface EditFormProps {
  onSubmit: () => void
  /** Absent if the person cannot close the form. */
  onClose?: (() => void) | undefined
  /** Name of the button that saves. */
  action: string
  isPending: boolean
  /** Whether the request waits for the connection. */
  isPaused: boolean
  error: unknown
}

interface Props extends EditFormProps {
  /** The fields by their names in the contract. */
  rules: Readonly<Record<string, FieldRules>>
  /** The fields, and messages about the item. */
  children: ReactNode
}

/** A form that saves an item: fields, the error, and the buttons with their keys. */
export function EditForm({ onSubmit, onClose, action, isPending, isPaused, error, rules, children }: Props) {
  const { t } = useLanguage()
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      {children}
      <Problem error={error} fields={rules} />
      <div className="row">
        <button aria-busy={isPending} aria-keyshortcuts="Control+Enter Meta+Enter">
          {action}
        </button>
        <Waiting isPaused={isPaused} />
        {onClose && (
          <button type="button" className="secondary" onClick={onClose} aria-keyshortcuts="Escape">
            {t('cancel')}
          </button>
        )}
      </div>
    </form>
  )
}
