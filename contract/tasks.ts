import * as z from 'zod'
import {
  ById,
  changing,
  creating,
  exportPart,
  Page,
  reading,
  requestSchemas,
  resourceContract,
  responseSchemas,
  RowId,
  Search,
  Success,
  text,
  Timestamp,
  topic,
  writing,
} from 'tallystick-contract'

import { taskBounds } from './bounds.ts'

const TaskStatus = z.enum(['pending', 'in_progress', 'completed'])

const example = {
  id: 7,
  userId: 'kYbUyxwCzlFgDnHaVtQe3Rj8PmS0iO5L',
  title: 'Write',
  description: null,
  status: 'pending',
  createdAt: 1767261600,
  updatedAt: 1767261600,
} as const

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
  .register(responseSchemas, { id: 'Task', example })
export type Task = z.infer<typeof Task>
export const TaskList = z
  .object({ tasks: z.array(Task), taskCount: z.int() })
  .register(responseSchemas, { id: 'TaskList', example: { tasks: [example], taskCount: 1 } })
const Title = text({ min: 1, max: taskBounds.title })
const Description = text({ max: taskBounds.description })
/** The REST interface fixes the names of the fields: `taskTitle` when a task is created, `title` when it is changed. */
export const CreateTask = z
  .object({ taskTitle: Title, taskDesc: Description.optional() })
  .register(requestSchemas, { id: 'CreateTask', example: { taskTitle: 'Write', taskDesc: 'The first page' } })
const UpdateTask = z
  .object({
    title: Title.optional(),
    description: Description.nullable().optional(),
    status: TaskStatus.optional(),
  })
  .register(requestSchemas, { id: 'UpdateTask', example: { status: 'completed' } })
const TasksReset = z
  .object({ taskCount: z.int() })
  .register(responseSchemas, { id: 'TasksReset', example: { taskCount: 0 } })

/** The tasks that a list contains. */
export const TaskFilter = z.object({
  status: TaskStatus.optional(),
  ...Search.shape,
  limit: Page.shape.limit,
})
export type TaskFilter = z.infer<typeof TaskFilter>

export const tasksTopic = topic('tasks', { access: 'signedIn', state: TaskList, input: TaskFilter })

export const tasksExport = exportPart({
  contents: ['tasks'],
  shape: { tasks: z.array(Task) },
  example: { tasks: [] },
})

export type TaskAction = 'EDIT_TASK'

const notFound = { NOT_FOUND: { status: 404, message: 'Task not found' } }

export const tasks = resourceContract({
  topics: [tasksTopic],
  exports: tasksExport,
  procedures: {
    list: reading
      .meta({
        reads: tasksTopic,
        tool: {
          title: 'List tasks',
          description:
            'Lists the person’s own tasks, newest first, optionally those with one status or with a text in title or description. Times are Unix seconds.',
          effect: 'read',
        },
      })
      .route({ method: 'GET', path: '/api/tasks', summary: 'List your tasks, newest first' })
      .input(TaskFilter.extend({ cursor: Page.shape.cursor }).optional())
      .output(TaskList),
    create: creating([tasksTopic])
      .meta({
        etag: true,
        tool: {
          title: 'Add a task',
          description: 'Adds a task for the person, with status pending.',
          effect: 'create',
        },
      })
      .route({ method: 'POST', path: '/api/tasks', summary: 'Add a task' })
      .input(CreateTask)
      .output(Task),
    get: reading
      .errors(notFound)
      .meta({
        etag: true,
        tool: {
          title: 'Read a task',
          description: 'Reads one of the person’s own tasks by its id.',
          effect: 'read',
        },
      })
      .route({ method: 'GET', path: '/api/tasks/{id}', summary: 'Read one of your tasks' })
      .input(ById)
      .output(Task),
    update: changing([tasksTopic])
      .errors(notFound)
      .meta({
        action: 'EDIT_TASK' satisfies TaskAction,
        etag: true,
        tool: {
          title: 'Change a task',
          description:
            'Changes the title, description or status of a task. Omitted fields stay the same. The description null removes the description.',
          effect: 'overwrite',
        },
      })
      .route({ method: 'PATCH', path: '/api/tasks/{id}', summary: 'Change a task' })
      .input(UpdateTask.extend({ id: RowId }))
      .output(Task),
    delete: changing([tasksTopic])
      .meta({
        tool: {
          title: 'Delete a task',
          description: 'Deletes a task permanently. Succeeds also if the task does not exist.',
          effect: 'overwrite',
        },
      })
      .route({ method: 'DELETE', path: '/api/tasks/{id}', summary: 'Delete a task' })
      .input(ById)
      .output(Success),
    // No single task, so that `If-Match` has no meaning.
    reset: writing
      .meta({
        updates: [tasksTopic],
        tool: {
          title: 'Delete all tasks',
          description: 'Deletes all tasks of the person permanently.',
          effect: 'overwrite',
        },
      })
      .route({ method: 'POST', path: '/api/tasks/reset', summary: 'Delete all of your tasks' })
      .output(TasksReset),
  },
})
