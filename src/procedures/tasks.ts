import * as query from '../../db/tasks.ts'
import { signedIn } from '../access.ts'
import { seconds } from './time.ts'

const os = signedIn.tasks

export const tasks = os.router({
  list: os.list.handler(async ({ context: { db, user }, input }) => {
    const rows = await query.list(db, user.id, input?.status)
    return { tasks: rows.map(view), taskCount: rows.length }
  }),

  create: os.create.handler(async ({ context: { db, user }, input: { taskTitle, taskDesc } }) =>
    view(await query.insert(db, user.id, { title: taskTitle, description: taskDesc })),
  ),

  get: os.get.handler(async ({ context: { db, user }, input, errors }) => {
    const task = await query.find(db, user.id, input.id)
    if (!task) throw errors.NOT_FOUND()
    return view(task)
  }),

  update: os.update.handler(async ({ context: { db, user }, input: { id, ...changes }, errors }) => {
    const task = await query.update(db, user.id, id, changes)
    if (!task) throw errors.NOT_FOUND()
    return view(task)
  }),

  delete: os.delete.handler(async ({ context: { db, user }, input }) => {
    await query.remove(db, user.id, input.id)
    return { success: true }
  }),

  reset: os.reset.handler(async ({ context: { db, user } }) => {
    await query.clear(db, user.id)
    return { taskCount: 0 }
  }),
})

const view = ({ id, userId, title, description, status, createdAt, updatedAt }: query.TaskRow) => ({
  id,
  userId,
  title,
  description,
  status,
  createdAt: seconds(createdAt),
  updatedAt: seconds(updatedAt),
})
