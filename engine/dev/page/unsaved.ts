import { hasDrafts, subscribeToDrafts } from './drafts.ts'
import { queryClient } from './query-client.ts'

const RELOADED_AT = 'reloadedAt'

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

/** Time after an automatic reload in which the page is not reloaded again, in milliseconds. */
const PAUSE = 60_000

/**
 * Reloads the page once if a part of the page cannot be loaded: after a deployment, an open page still names the files of
 * the release before. Does not reload a page with unsaved texts or unsent changes.
 */
export function reloadAfterFailedImport() {
  window.addEventListener('vite:preloadError', () => {
    if (isUnsaved()) return
    const now = Date.now()
    if (now - Number(sessionStorage.getItem(RELOADED_AT)) < PAUSE) return
    sessionStorage.setItem(RELOADED_AT, String(now))
    location.reload()
  })
}
