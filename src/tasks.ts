import { implement } from '@orpc/server'
import { selectWith } from 'tallystick/db'
import {
  type Context,
  type Items,
  newestFirst,
  type Order,
  readPage,
  type Reply,
  type Resource,
  toUnixSeconds,
  versionTag,
  withCaller,
} from 'tallystick'

import { type TaskAction, tasks as tasksContract } from '../contract/tasks.ts'
import * as query from '../db/tasks.ts'

const os = implement(tasksContract.procedures).$context<Context>().use(withCaller)

const order: Order<query.ListedTask> = {
  ...newestFirst,
  textsOf: ({ title, description }) => [title, description],
}

const procedures = os.router({
  list: os.list.handler(async (call) => {
    const { db, user } = call.context
    const { rows, total } = await readPage(
      call,
      order,
      (page) => query.list(db, user.id, page, call.input?.status),
      () => query.countAll(db, user.id, call.input?.status),
    )
    return { tasks: rows.map((task) => view(task, user.id)), taskCount: total }
  }),

  create: os.create.handler(async ({ context: { db, user, reply }, input: { taskTitle, taskDesc } }) =>
    viewWithETag(reply, await query.insert(db, user.id, { title: taskTitle, description: taskDesc })),
  ),

  get: os.get.handler(async ({ context: { db, user, reply }, input, errors }) => {
    const task = await query.find(db, user.id, input.id)
    if (!task) throw errors.NOT_FOUND()
    return viewWithETag(reply, task)
  }),

  update: os.update.handler(async ({ context, input: { id, ...changes }, errors }) => {
    const { db, user, reply, acceptedVersions } = context
    const task = await query.update(db, user.id, id, changes, acceptedVersions)
    if (!task) throw acceptedVersions ? errors.PRECONDITION_FAILED() : errors.NOT_FOUND()
    return viewWithETag(reply, task)
  }),

  delete: os.delete.handler(async ({ context: { db, user, acceptedVersions }, input, errors }) => {
    const isDeleted = await query.remove(db, user.id, input.id, acceptedVersions)
    if (!isDeleted && acceptedVersions) throw errors.PRECONDITION_FAILED()
    return { success: true }
  }),

  reset: os.reset.handler(async ({ context: { db, user } }) => {
    await query.clear(db, user.id)
    return { taskCount: 0 }
  }),
})

const items: Items<number> = {
  permissions: { owner: ['EDIT_TASK'] satisfies TaskAction[] },
  findRelation: async (db, user, id) =>
    (await query.find(db, user.id, id)) && { name: 'owner', owner: user.id },
  ifMatch: {
    by: 'statement',
    findTag: async (db, user, id) => {
      const task = await query.find(db, user.id, id)
      return task && versionTag(task)
    },
  },
}

export const tasks = {
  description: 'The tasks of a person. Nobody else can see them.',
  names: {
    am: 'ተግባራት',
    ar: 'المهام',
    de: 'Aufgaben',
    en: 'tasks',
    es: 'tareas',
    fa: 'کارها',
    fr: 'tâches',
    he: 'משימות',
    hi: 'कार्य',
    it: 'attività',
    ja: 'タスク',
    ko: '할 일',
    pl: 'zadania',
    'pt-BR': 'tarefas',
    ru: 'задачи',
    th: 'งาน',
    tr: 'görevler',
    uk: 'завдання',
    'zh-Hans': '任务',
    'zh-Hant': '工作',
  },
  procedures,
  items,
  personalData: {
    select: selectWith(query.exportQueries, ({ tasks }) => ({
      tasks: tasks.map((task) => view(task, task.userId)),
    })),
  },
  importSamples: () => import('./samples/tasks.ts'),
} satisfies Resource

function viewWithETag(reply: Reply, task: query.TaskRow) {
  reply.set('etag', versionTag(task))
  return view(task, task.userId)
}

const view = (
  { id, title, description, status, createdAt, updatedAt }: query.ListedTask,
  userId: string,
) => ({
  id,
  userId,
  title,
  description,
  status,
  createdAt: toUnixSeconds(createdAt),
  updatedAt: toUnixSeconds(updatedAt),
})
