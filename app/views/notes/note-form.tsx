import type { ReactNode } from 'react'
import { Field, Problem, TextField, Waiting } from 'tallystick/page'

import { noteBounds } from '../../../contract/bounds.ts'
import { useLanguage } from '../../language.ts'
import type { NoteFields } from './note.ts'

interface Props {
  fields: NoteFields
  onChange: (fields: NoteFields) => void
  onSubmit: () => void
  /** Absent for a new note. */
  onClose?: () => void
  /** Name of the button that saves. */
  action: string
  isPending: boolean
  /** Whether the request waits for the connection. */
  isPaused: boolean
  error: unknown
  /** Messages, between the fields and the buttons. */
  children?: ReactNode
}

/** The fields of a note. */
export function NoteForm({
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
  const { title, body } = fields
  const rules = {
    title: { label: t('title'), maxLength: noteBounds.title },
    body: { label: t('body'), maxLength: noteBounds.body },
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (title.trim()) onSubmit()
      }}
    >
      <Field
        {...rules.title}
        dir="auto"
        required
        autoFocus={onClose !== undefined}
        autoComplete="off"
        aria-keyshortcuts={onClose ? undefined : 'n'}
        value={title}
        onValue={(value) => {
          onChange({ title: value, body })
        }}
      />
      <TextField
        {...rules.body}
        dir="auto"
        rows={4}
        value={body}
        onValue={(value) => {
          onChange({ title, body: value })
        }}
      />
      {children}
      <Problem error={error} fields={rules} />
      <div className="row">
        <button aria-busy={isPending} disabled={isPending} aria-keyshortcuts="Control+Enter Meta+Enter">
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

/** Shows a version of a note. */
export function NoteVersion({ fields: { title, body } }: { fields: NoteFields }) {
  return (
    <>
      <p>
        <strong>
          <bdi>{title}</bdi>
        </strong>
      </p>
      <p className="text" dir="auto">
        {body}
      </p>
    </>
  )
}
