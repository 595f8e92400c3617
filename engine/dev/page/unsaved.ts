import { queryClient } from './api.ts'
import { hasDrafts, subscribeToDrafts } from './drafts.ts'

let isLeaving = false

/** Returns whether the page has texts that the person has not saved, or changes that the service has not answered. */
export const isUnsaved = () => hasDrafts() || queryClient.isMutating() > 0

const ask = (event: BeforeUnloadEvent) => {
  event.preventDefault()
}

/** Without anything unsaved there is no listener, because a listener can exclude the page from the back/forward cache. */
function update() {
  if (isUnsaved() && !isLeaving) addEventListener('beforeunload', ask)
  else removeEventListener('beforeunload', ask)
}

/** Lets the browser ask before the person leaves a page with unsaved texts or unsent changes. */
export function askBeforeLeaving() {
  subscribeToDrafts(update)
  queryClient.getMutationCache().subscribe(update)
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return
    isLeaving = false
    update()
  })
}

export function leaveWithoutQuestion(leave: () => void) {
  isLeaving = true
  update()
  leave()
}
