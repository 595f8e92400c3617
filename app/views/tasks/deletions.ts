import { useSyncExternalStore } from 'react'

import { createClient } from '../../../contract/client.ts'

/** Time to undo a deletion, in milliseconds. */
const UNDO_TIME = 6000

interface Deletions {
  /** Ids of the tasks that the person has deleted and can restore. The service still has these tasks. */
  pending: readonly number[]
  /** Ids of the tasks that the page has asked the service to delete. */
  sent: readonly number[]
  /** Why the last deletion failed. */
  error: unknown
}

/** The browser completes the requests of this client even if the page closes. */
const client = createClient(location.origin, {
  fetch: (request, init) => fetch(request, { ...init, keepalive: true }),
})

let deletions: Deletions = { pending: [], sent: [], error: undefined }
let timer: number | undefined
const listeners = new Set<() => void>()

function change(changes: Partial<Deletions>) {
  deletions = { ...deletions, ...changes }
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useDeletions = () => useSyncExternalStore(subscribe, () => deletions)

/** Hides a task, and deletes the task after the time to undo. A further deletion begins this time again. */
export function deleteLater(id: number) {
  change({ pending: [...deletions.pending, id], error: undefined })
  clearTimeout(timer)
  timer = window.setTimeout(() => void sendDeletions(), UNDO_TIME)
}

export function undoDeletions() {
  clearTimeout(timer)
  change({ pending: [] })
}

/** Sends the deletions that can still be undone. After a failed deletion, the task is visible again. */
export async function sendDeletions() {
  clearTimeout(timer)
  const { pending, sent } = deletions
  if (pending.length === 0) return
  change({ pending: [], sent: [...sent, ...pending] })
  const remove = (id: number) =>
    client.tasks.delete({ id }).catch((error: unknown) => {
      change({ sent: deletions.sent.filter((each) => each !== id), error })
    })
  await Promise.all(pending.map(remove))
}

// A hidden page may never become visible again.
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') void sendDeletions()
})
addEventListener('pagehide', () => void sendDeletions())
