import type { StopHook } from '../app/hooks.ts'
import { requireRecipient } from '../call/live-stream.ts'
import type { Services } from '../http/server/services.ts'

/** Runs `onStart` of the application. The returned function logs an error instead of throwing it: the service stops anyway. */
export async function runOnStart({
  app: { onStart },
  db,
  log,
  now,
  settings: { baseUrl, service, release },
  live,
}: Pick<Services, 'app' | 'db' | 'log' | 'now' | 'settings' | 'live'>): Promise<() => Promise<void>> {
  const stop: StopHook | undefined = await onStart?.({
    db,
    log,
    now,
    settings: { baseUrl, service, release },
    announce: (topic, ...recipients) => {
      requireRecipient(topic, recipients)
      live.announce(topic, ...recipients)
    },
  })
  return async () => {
    try {
      await stop?.()
    } catch (error) {
      log.error({ err: error }, 'the function that onStart returned has failed')
    }
  }
}
