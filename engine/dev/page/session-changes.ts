import { queryClient } from './query-client.ts'
import { fetchSession, type Session, sessionQuery } from './auth.ts'
import { leaveWithoutQuestion } from './unsaved.ts'

/** Connects the tabs of the browser, which share one session. */
const tabs = new BroadcastChannel('session')

/** Tells the other tabs that the session of the browser has changed. */
export const announceSession = () => {
  tabs.postMessage('changed')
}

/** Loads the page again, as another person or signed out. No data of the last person remains in the memory. */
export const restart = () => {
  announceSession()
  leaveWithoutQuestion(() => {
    location.assign('/')
  })
}

/**
 * Keeps the page from showing data of a session that has ended elsewhere. The Back button can show a page exactly as the
 * person left the page, from the back/forward cache of the browser: the page then stays hidden until the service has
 * confirmed the session.
 */
export function watchSession(page: HTMLElement) {
  tabs.addEventListener('message', () => void queryClient.invalidateQueries(sessionQuery))
  addEventListener('pagehide', ({ persisted }) => {
    page.hidden = persisted
  })
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) void showIfCurrent(page)
  })
}

async function showIfCurrent(page: HTMLElement) {
  const shown = queryClient.getQueryData<Session | null>(sessionQuery.queryKey)
  const current = await fetchSession().then(
    ({ session }) => session,
    () => undefined,
  )
  if (current !== undefined && current?.session.id === shown?.session.id) page.hidden = false
  else
    leaveWithoutQuestion(() => {
      location.reload()
    })
}
