import type { Connection } from '../db/database.ts'
import { isReachable, open } from '../db/index.ts'
import type { Parts } from './guard/authentication.ts'
import { createAuth, createTokenReader } from './identity/auth.ts'
import { createLog } from './telemetry/log.ts'
import { createSpend } from './guard/rate-limits.ts'
import { createMailer, type Mailer } from './identity/mail.ts'
import type { Settings } from './settings.ts'
import { createVerifier, makeKeys } from './identity/tokens.ts'
import { tracing } from './telemetry/tracing.ts'

/** Opens what the service is made of. */
export async function openParts(
  settings: Settings,
  mailer?: Mailer,
): Promise<Parts & Pick<Connection, 'close'>> {
  const log = createLog(settings)
  const { databaseUrl, directUrl, answerTimeout: patience } = settings
  const metrics = await openMetrics(settings)
  const watches = [metrics, tracing].flatMap((watcher) => (watcher ? [watcher.watch] : []))
  const { db, close } = await open(databaseUrl, { directUrl, patience, watches })
  await makeKeys(db)
  const auth = createAuth(settings, db, mailer ?? createMailer(settings, log), log)
  const readToken = await createTokenReader(auth)
  const verifyToken = createVerifier(db, settings.baseUrl)
  return {
    settings,
    db,
    auth,
    readToken,
    verifyToken,
    log,
    isReachable: () => isReachable(db),
    spend: createSpend(settings, db, metrics?.limited),
    metrics,
    state: { stopping: false },
    close,
  }
}

/** Loaded only where it is wanted: it takes longer than the rest of a start. */
const openMetrics = async (settings: Settings) =>
  settings.metricsPort === undefined ? undefined : (await import('./telemetry/metrics.ts')).createMetrics(settings)
