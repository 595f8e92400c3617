import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Field, ownerOfDrafts, Problem, TextField } from 'tallystick-dev/page'

import { taskBounds } from '../../../contract/bounds.ts'
import { orpc } from '../../api.ts'
import { useLanguage } from '../../language.ts'
import { newTaskDrafts, type NewTaskFields, refreshTasks } from './task.ts'

const empty = { taskTitle: '', taskDesc: '' }

function change(fields: NewTaskFields) {
  if (fields.taskTitle || fields.taskDesc) newTaskDrafts.keep('new', fields)
  else newTaskDrafts.forget('new')
}

/** The form for a new task. The list shows the task before the service has answered. */
export function NewTask({ onAdd }: { onAdd: () => void }) {
  const { t } = useLanguage()
  const fields = newTaskDrafts.use('new') ?? empty
  const title = fields.taskTitle.trim()
  // Stays open, because the list must not move while a person presses a button of the list.
  const [isOpen, setOpen] = useState(fields.taskDesc !== '')
  const rules = {
    taskTitle: { label: t('newTask'), maxLength: taskBounds.title },
    taskDesc: { label: t('description'), maxLength: taskBounds.description },
  }
  const create = useMutation(
    orpc.tasks.create.mutationOptions({
      onMutate: ownerOfDrafts,
      onSettled: refreshTasks,
      // Returns the text to the person, unless the person has entered another text in the meantime.
      onError: (_, { taskTitle, taskDesc = '' }, owner) => {
        if (owner === ownerOfDrafts() && !newTaskDrafts.get('new')) change({ taskTitle, taskDesc })
      },
    }),
  )
  return (
    <>
      <form
        className="new-task"
        onFocus={() => {
          setOpen(true)
        }}
        onSubmit={(event) => {
          event.preventDefault()
          if (!title) return
          const { taskDesc } = fields
          create.mutate({ taskTitle: title, ...(taskDesc && { taskDesc }) })
          newTaskDrafts.forget('new')
          onAdd()
        }}
      >
        <Field
          {...rules.taskTitle}
          isCompact
          dir="auto"
          required
          autoComplete="off"
          aria-keyshortcuts="n"
          value={fields.taskTitle}
          onValue={(taskTitle) => {
            change({ ...fields, taskTitle })
          }}
        />
        {isOpen && (
          <TextField
            {...rules.taskDesc}
            isCompact
            dir="auto"
            rows={1}
            value={fields.taskDesc}
            onValue={(taskDesc) => {
              change({ ...fields, taskDesc })
            }}
          />
        )}
        <button aria-keyshortcuts="Control+Enter Meta+Enter">{t('addTask')}</button>
      </form>
      <Problem error={create.error} fields={rules} />
    </>
  )
}
