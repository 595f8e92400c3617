import type { ReactNode } from 'react'
import { Choice, EditForm, type EditFormProps, Field, TextField } from 'tallystick-dev/page'

import { taskBounds } from '../../../contract/bounds.ts'
import { useLanguage } from '../../language.ts'
import { statuses, statusNames, type TaskFields } from './task.ts'

interface Props extends EditFormProps {
  fields: TaskFields
  onChange: (fields: TaskFields) => void
  /** Messages, between the fields and the buttons. */
  children: ReactNode
}

/** The fields of a task. */
export function TaskForm({ fields, onChange, children, ...form }: Props) {
  const { t } = useLanguage()
  const { title, description, status } = fields
  const rules = {
    title: { label: t('title'), maxLength: taskBounds.title },
    description: { label: t('description'), maxLength: taskBounds.description },
  }
  return (
    <EditForm {...form} rules={rules}>
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
      <Choice
        label={t('status')}
        value={status}
        options={statuses.map((each) => [each, t(statusNames[each])])}
        onChoice={(value) => {
          onChange({ ...fields, status: value })
        }}
      />
      {children}
    </EditForm>
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
