import { Composer } from 'tallystick-dev/page'

import { taskBounds } from '../../../contract/bounds.ts'
import { orpc } from '../../api.ts'
import { useLanguage } from '../../language.ts'
import { taskRows } from './task.ts'

/** The form for a new task. The list shows the task before the service has answered. */
export function NewTask({ onAdd }: { onAdd: () => void }) {
  const { t } = useLanguage()
  return (
    <Composer
      name="tasks"
      className="new-task"
      fields={{
        taskTitle: { label: t('newTask'), maxLength: taskBounds.title },
        taskDesc: { label: t('description'), maxLength: taskBounds.description, rows: 1 },
      }}
      action={t('addTask')}
      mutation={orpc.tasks.create.mutationOptions({ onSettled: taskRows.refresh })}
      toInput={({ taskTitle, taskDesc }) => ({ taskTitle, ...(taskDesc && { taskDesc }) })}
      onAdd={onAdd}
    />
  )
}
