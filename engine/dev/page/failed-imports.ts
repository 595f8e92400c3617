import { isUnsaved } from './unsaved.ts'

const RELOADED_AT = 'reloadedAt'

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
