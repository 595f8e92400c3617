import { z } from 'zod'

import { answers, ById, requests, RowId, signedIn, Success, text, Timestamp } from './base.ts'

const TaskStatus = z.enum(['pending', 'in_progress', 'completed'])

export const Task = z
  .object({
    id: z.int(),
    userId: z.string(),
    title: z.string(),
    description: z.string().nullable(),
    status: TaskStatus,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .register(answers, { id: 'Task' })
export const TaskList = z
  .object({ tasks: z.array(Task), taskCount: z.int() })
  .register(answers, { id: 'TaskList' })
export const CreateTask = z
  .object({ taskTitle: text({ min: 1 }), taskDesc: text().optional() })
  .register(requests, { id: 'CreateTask' })
export const UpdateTask = z
  .object({
    title: text({ min: 1 }).optional(),
    description: text().nullable().optional(),
    status: TaskStatus.optional(),
  })
  .register(requests, { id: 'UpdateTask' })
export const TasksReset = z.object({ taskCount: z.int() }).register(answers, { id: 'TasksReset' })

const existing = signedIn.errors({ NOT_FOUND: { status: 404, message: 'Task not found' } })

export const tasks = {
  list: signedIn
    .route({ method: 'GET', path: '/api/tasks', summary: 'List your tasks, newest first' })
    .input(z.object({ status: TaskStatus.optional() }).optional())
    .output(TaskList),
  create: signedIn
    .route({ method: 'POST', path: '/api/tasks', summary: 'Add a task' })
    .input(CreateTask)
    .output(Task),
  get: existing
    .route({ method: 'GET', path: '/api/tasks/{id}', summary: 'Read one of your tasks' })
    .input(ById)
    .output(Task),
  update: existing
    .meta({ action: 'EDIT_TASK' })
    .route({ method: 'PATCH', path: '/api/tasks/{id}', summary: 'Change a task' })
    .input(UpdateTask.extend({ id: RowId }))
    .output(Task),
  delete: signedIn
    .route({ method: 'DELETE', path: '/api/tasks/{id}', summary: 'Delete a task' })
    .input(ById)
    .output(Success),
  reset: signedIn
    .route({ method: 'POST', path: '/api/tasks/reset', summary: 'Delete all of your tasks' })
    .output(TasksReset),
}
