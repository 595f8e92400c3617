import type { ReactNode } from 'react'
import { EditForm, type EditFormProps, Field, TextField } from 'tallystick-dev/page'

import { noteBounds } from '../../../contract/bounds.ts'
import { useLanguage } from '../../language.ts'
import type { NoteFields } from './note.ts'

/** A form for a new note has no `onClose`. */
interface Props extends EditFormProps {
  fields: NoteFields
  onChange: (fields: NoteFields) => void
  /** Messages, between the fields and the buttons. */
  children?: ReactNode
}

/** The fields of a note. */
export function NoteForm({ fields, onChange, onSubmit, children, ...form }: Props) {
  const { t } = useLanguage()
  const { title, body } = fields
  const isNew = form.onClose === undefined
  const rules = {
    title: { label: t('title'), maxLength: noteBounds.title },
    body: { label: t('body'), maxLength: noteBounds.body },
  }
  return (
    <EditForm
      {...form}
      rules={rules}
      onSubmit={() => {
        if (title.trim()) onSubmit()
      }}
    >
      <Field
        {...rules.title}
        isCompact={isNew}
        dir="auto"
        required
        autoFocus={!isNew}
        autoComplete="off"
        aria-keyshortcuts={isNew ? 'n' : undefined}
        value={title}
        onValue={(value) => {
          onChange({ title: value, body })
        }}
      />
      <TextField
        {...rules.body}
        isCompact={isNew}
        dir="auto"
        rows={isNew ? 1 : 8}
        value={body}
        onValue={(value) => {
          onChange({ title, body: value })
        }}
      />
      {children}
    </EditForm>
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
