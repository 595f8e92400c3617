import { createRows } from 'tallystick-dev/page'

import { taskBounds } from '../../../contract/bounds.ts'
import type { Outputs } from '../../../contract/client.ts'
import { orpc } from '../../api.ts'
import { type Message, useLanguage } from '../../language.ts'

export type Task = Outputs['tasks']['list']['tasks'][number]
export type Status = Task['status']

export const statuses = ['pending', 'in_progress', 'completed'] as const satisfies Status[]
export const statusNames: Record<Status, Message> = {
  pending: 'statusPending',
  in_progress: 'statusInProgress',
  completed: 'done',
}

export const findStatus = (value: string | undefined) => statuses.find((each) => each === value)

export const taskRows = createRows({
  path: '/tasks',
  fields: ['title', 'description', 'status'],
  deleted: 'tasksDeleted',
  key: orpc.tasks.key(),
  get: (id: number) => orpc.tasks.get.call({ id }),
  create: ({ title, description }) => orpc.tasks.create.call({ taskTitle: title, taskDesc: description }),
  update: ({ title, description, status }, id, options) =>
    orpc.tasks.update.call(
      { id, title, description: description || null, status: findStatus(status) },
      options,
    ),
  delete: (id, options) => orpc.tasks.delete.call({ id }, options),
})

/** Returns the fields of the form of a task. */
export function useTaskFields() {
  const { t } = useLanguage()
  return {
    title: { label: t('title'), maxLength: taskBounds.title },
    description: { label: t('description'), maxLength: taskBounds.description, rows: 3 },
    status: {
      label: t('status'),
      options: statuses.map((each) => [each, t(statusNames[each])] as const),
    },
  }
}
