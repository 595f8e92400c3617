import { createEdits, queryClient } from 'tallystick-dev/page'

import type { Outputs } from '../../../contract/client.ts'
import { orpc } from '../../api.ts'
import type { Message } from '../../language.ts'

export type Task = Outputs['tasks']['list']['tasks'][number]
export type Status = Task['status']

/** A task with the entity tag of this version. */
export type TaggedTask = Task & { etag?: string }

/** The fields that a person can change. */
export type TaskFields = Pick<Task, 'title' | 'description' | 'status'>

export const statuses = ['pending', 'in_progress', 'completed'] as const satisfies Status[]
export const statusNames: Record<Status, Message> = {
  pending: 'statusPending',
  in_progress: 'statusInProgress',
  completed: 'done',
}

export const isEqual = (a: TaskFields, b: TaskFields) =>
  a.title === b.title && (a.description ?? '') === (b.description ?? '') && a.status === b.status

export const taskEdits = createEdits<number, TaggedTask, TaskFields>(isEqual)

/** Requests the tasks again. A change is shown as pending until this request has been answered. */
export const refreshTasks = () => queryClient.invalidateQueries({ queryKey: orpc.tasks.key() })

/** Changes of a task are sent one after the other. */
export const scopeOf = (id: number) => ({ id: `tasks/${id}` })
