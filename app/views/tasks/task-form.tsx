import type { ReactNode } from 'react'
import { Field, Problem, TextField, Waiting } from 'tallystick/page'

import { taskBounds } from '../../../contract/bounds.ts'
import { useLanguage } from '../../language.ts'
import { type Status, statuses, statusNames, type TaskFields } from './task.ts'

interface Props {
  fields: TaskFields
  onChange: (fields: TaskFields) => void
  onSubmit: () => void
  onClose: () => void
  /** Name of the button that saves. */
  action: string
  isPending: boolean
  /** Whether the request waits for the connection. */
  isPaused: boolean
  error: unknown
  /** Messages, between the fields and the buttons. */
  children: ReactNode
}

/** The fields of a task. */
export function TaskForm({
  fields,
  onChange,
  onSubmit,
  onClose,
  action,
  isPending,
  isPaused,
  error,
  children,
}: Props) {
  const { t } = useLanguage()
  const { title, description, status } = fields
  const rules = {
    title: { label: t('title'), maxLength: taskBounds.title },
    description: { label: t('description'), maxLength: taskBounds.description },
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      <Field
        {...rules.title}
        dir="auto"
        required
        autoFocus
        value={title}
        onValue={(value) => {
          onChange({ ...fields, title: value })
        }}
      />
      <TextField
        {...rules.description}
        dir="auto"
        rows={3}
        value={description ?? ''}
        onValue={(value) => {
          onChange({ ...fields, description: value || null })
        }}
      />
      <label>
        {t('status')}
        <select
          value={status}
          onChange={({ target }) => {
            onChange({ ...fields, status: target.value as Status })
          }}
        >
          {statuses.map((each) => (
            <option key={each} value={each}>
              {t(statusNames[each])}
            </option>
          ))}
        </select>
      </label>
      {children}
      <Problem error={error} fields={rules} />
      <div className="row">
        <button aria-busy={isPending} disabled={isPending} aria-keyshortcuts="Control+Enter Meta+Enter">
          {action}
        </button>
        <Waiting isPaused={isPaused} />
        <button type="button" className="secondary" onClick={onClose} aria-keyshortcuts="Escape">
          {t('cancel')}
        </button>
      </div>
    </form>
  )
}

/** Shows a version of a task. */
export function TaskVersion({ fields: { title, description, status } }: { fields: TaskFields }) {
  const { t } = useLanguage()
  return (
    <>
      <p>
        <strong>
          <bdi>{title}</bdi>
        </strong>{' '}
        <small className="badge">{t(statusNames[status])}</small>
      </p>
      {description && (
        <p className="text" dir="auto">
          {description}
        </p>
      )}
    </>
  )
}
