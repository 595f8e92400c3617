import { createUndoable } from 'tallystick-dev/page'

import { orpc } from '../../api.ts'

export const deletions = createUndoable<number>({
  message: 'tasksDeleted',
  send: (id) => orpc.tasks.delete.call({ id }, { context: { keepalive: true } }),
  elementOf: (id) => `task-${id}`,
})
