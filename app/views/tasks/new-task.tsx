import { useMutation } from '@tanstack/react-query'
import { Field, ownerOfDrafts, Problem } from 'tallystick/page'

import { orpc } from '../../api.ts'
import { useLanguage } from '../../language.ts'
import { newTaskDrafts, refreshTasks } from './task.ts'

function changeTitle(title: string) {
  if (title) newTaskDrafts.keep('new', title)
  else newTaskDrafts.forget('new')
}

/** The form for a new task. The list shows the task before the service has answered. */
export function NewTask({ onAdd }: { onAdd: () => void }) {
  const { t } = useLanguage()
  const title = newTaskDrafts.use('new') ?? ''
  const create = useMutation(
    orpc.tasks.create.mutationOptions({
      onMutate: ownerOfDrafts,
      onSettled: refreshTasks,
      // Returns the text to the person, unless the person has entered another text in the meantime.
      onError: (_, { taskTitle }, owner) => {
        if (owner === ownerOfDrafts() && !newTaskDrafts.get('new')) newTaskDrafts.keep('new', taskTitle)
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
          newTaskDrafts.forget('new')
          onAdd()
        }}
      >
        <Field
          label={t('newTask')}
          dir="auto"
          required
          autoComplete="off"
          value={title}
          onValue={changeTitle}
        />
        <button>{t('addTask')}</button>
      </form>
      <Problem error={create.error} />
    </>
  )
}
