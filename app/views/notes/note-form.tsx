import type { ReactNode } from 'react'
import { Field, Waiting } from 'tallystick/page'

import { noteBounds } from '../../../contract/bounds.ts'
import { useLanguage } from '../../language.ts'
import type { NoteFields } from './note.ts'

/** `max` is a number of code points. */
const isTooLong = (text: string, max: number) => text.length > max && Array.from(text).length > max

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
  children,
}: Props) {
  const { t } = useLanguage()
  const { title, body } = fields
  const isTitleTooLong = isTooLong(title.trim(), noteBounds.title)
  const isBodyTooLong = isTooLong(body, noteBounds.body)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (title.trim() && !isTitleTooLong && !isBodyTooLong) onSubmit()
      }}
    >
      <Field
        label={t('title')}
        dir="auto"
        required
        autoFocus={onClose !== undefined}
        autoComplete="off"
        aria-keyshortcuts={onClose ? undefined : 'n'}
        value={title}
        onValue={(value) => {
          onChange({ title: value, body })
        }}
        error={isTitleTooLong ? t('tooLong', { max: noteBounds.title }) : undefined}
      />
      <label>
        {t('body')}
        <textarea
          dir="auto"
          rows={4}
          value={body}
          aria-invalid={isBodyTooLong || undefined}
          onChange={({ target }) => {
            onChange({ title, body: target.value })
          }}
        />
        {isBodyTooLong && <small>{t('tooLong', { max: noteBounds.body })}</small>}
      </label>
      {children}
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
