import { createUndoable } from 'tallystick-dev/page'

import { createClient } from '../../../contract/client.ts'

/** The browser completes the requests of this client even if the page closes. */
const client = createClient(location.origin, {
  fetch: (request, init) => fetch(request, { ...init, keepalive: true }),
})

export const deletions = createUndoable<number>({
  message: 'tasksDeleted',
  send: (id) => client.tasks.delete({ id }),
  elementOf: (id) => `task-${id}`,
})
