import { resource, toUnixTimes } from 'tallystick'

import { type Task, type TaskAction, tasks as tasksContract } from '../contract/tasks.ts'
import { taskRows } from '../db/tasks.ts'

export const tasks = resource(tasksContract, taskRows, {
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
  permissions: { owner: ['EDIT_TASK'] satisfies TaskAction[] },
  view: ({ id, userId, title, description, status, ...times }): Task => ({
    id,
    userId,
    title,
    description,
    status,
    ...toUnixTimes(times),
  }),
  procedures: (os, { page, get, insert, update, remove }) => ({
    list: os.list.handler(page('tasks', 'taskCount')),

    create: os.create.handler(
      insert(({ input: { taskTitle: title, taskDesc: description, ...rest } }) => ({
        title,
        description,
        ...rest,
      })),
    ),

    get: os.get.handler(get()),

    update: os.update.handler(update(({ input }) => input)),

    delete: os.delete.handler(remove({ isRequired: false })),

    reset: os.reset.handler(async ({ context: { db, user } }) => {
      await taskRows.clear(db, user)
      return { taskCount: 0 }
    }),
  }),
  importSamples: () => import('./samples/tasks.ts'),
})
