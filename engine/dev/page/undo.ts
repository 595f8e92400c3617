import { useSyncExternalStore } from 'react'

/** Time to undo a change, in milliseconds. A further change begins the shorter time, because the person knows the bar. */
const UNDO_TIME = 10_000
const NEXT_UNDO_TIME = 5000

/** A kind of changes. The page shows a change immediately, and sends the change after the time to undo. */
interface Undoable<Id> {
  /** The name of the text about the changes. The text receives their `count`. */
  message: string
  /** Sends a change. The request must be completed also if the page closes: `keepalive`. */
  send: (id: Id) => Promise<unknown>
  /** Returns the id of the element that receives the focus after the change is undone. */
  elementOf: (id: Id) => string
}

/** A change that can still be undone. */
interface Change {
  message: string
  elementId: string
  undo: () => void
  send: () => Promise<void>
}

let state: { changes: readonly Change[]; error: unknown } = { changes: [], error: undefined }
let timer: number | undefined
const listeners = new Set<() => void>()

function update(next: Partial<typeof state>) {
  state = { ...state, ...next }
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Returns the changes that can still be undone, and the error of the last change that failed. */
export const useChanges = () => useSyncExternalStore(subscribe, () => state)

/** Creates a kind of changes that a person can undo, such as the deletion of an item. */
export function createUndoable<Id>({ message, send, elementOf }: Undoable<Id>) {
  let ids: readonly Id[] = []
  const undo = (id: Id) => {
    ids = ids.filter((other) => other !== id)
  }
  return {
    /** Returns the ids of the changed items, also of the changes that the page has sent. */
    use: () => useSyncExternalStore(subscribe, () => ids),
    /** Changes an item later. A change that fails is undone. */
    change: (id: Id) => {
      ids = [...ids, id]
      const change = {
        message,
        elementId: elementOf(id),
        undo: () => {
          undo(id)
        },
        send: async () => {
          try {
            await send(id)
          } catch (error) {
            undo(id)
            update({ error })
          }
        },
      }
      update({ changes: [...state.changes, change], error: undefined })
      startUndoTime()
    },
  }
}

/** Begins the time to undo again. Without a connection, the changes wait for the connection. */
export function startUndoTime() {
  stopUndoTime()
  if (state.changes.length > 0)
    timer = window.setTimeout(
      () => {
        if (navigator.onLine) void sendChanges()
      },
      state.changes.length > 1 ? NEXT_UNDO_TIME : UNDO_TIME,
    )
}

/** Stops the time to undo, for example while the pointer is over the button. */
export function stopUndoTime() {
  clearTimeout(timer)
}

/** Undoes the changes that can still be undone. Returns the id of the item that was changed last, for the focus. */
export function undoChanges() {
  stopUndoTime()
  const { changes } = state
  for (const { undo } of changes) undo()
  update({ changes: [] })
  return changes.at(-1)?.elementId
}

/** Sends the changes that can still be undone. */
export async function sendChanges() {
  stopUndoTime()
  const { changes } = state
  update({ changes: [] })
  await Promise.all(changes.map(({ send }) => send()))
}

export const forgetError = () => {
  update({ error: undefined })
}

addEventListener('online', startUndoTime)
// A hidden page may never become visible again.
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') void sendChanges()
})
addEventListener('pagehide', () => void sendChanges())
