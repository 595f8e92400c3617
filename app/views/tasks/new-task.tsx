import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'

import { orpc } from '../../api.ts'
import { Field } from '../../components/field.tsx'
import { Problem } from '../../components/problem.tsx'
import { useLanguage } from '../../language.tsx'
import { refreshTasks } from './task.ts'

/** The form for a new task. The list shows the task before the service has answered. */
export function NewTask({ onAdd }: { onAdd: () => void }) {
  const { t } = useLanguage()
  const [title, setTitle] = useState('')
  const create = useMutation(
    orpc.tasks.create.mutationOptions({
      onSettled: refreshTasks,
      // Returns the text to the person, unless the person has entered another text in the meantime.
      onError: (_, { taskTitle }) => {
        setTitle((current) => current || taskTitle)
      },
    }),
  )
  return (
    <>
      <form
        className="row end"
        onSubmit={(event) => {
          event.preventDefault()
          if (!title.trim()) return
          create.mutate({ taskTitle: title.trim() })
          setTitle('')
          onAdd()
        }}
      >
        <Field label={t('newTask')} dir="auto" required autoComplete="off" value={title} onValue={setTitle} />
        <button>{t('addTask')}</button>
      </form>
      <Problem error={create.error} />
    </>
  )
}
