import type { Logger } from 'pino'

import type { Connection } from './db/database.ts'
import { parseDatabaseUrl } from './db/database-url.ts'
import type { MigrationState } from './db/migrations.ts'
import { isReachable, isServer, migrate, open } from './db/open.ts'
import type { App } from './resource.ts'
import type { Recorder, Services } from './services.ts'
import { createRateLimiter } from './guard/rate-limiter.ts'
import { type Auth, createAuth, createCookieIdentity } from './identity/better-auth.ts'
import { createLive } from './live/index.ts'
import { createMailer, type Mailer } from './identity/mail.ts'
import { createVerifier, createKeys } from './identity/tokens.ts'
import type { Settings } from './settings.ts'
import { createLog } from './telemetry/log.ts'
import type { Metrics } from './telemetry/metrics.ts'
import { tracing } from './telemetry/tracing.ts'
import { refuseUndeclared } from './values/declared.ts'

export interface OpenServices extends Services, Omit<Connection, 'db'> {
  auth: Auth
}

interface Options {
  mailer?: Mailer
  metrics?: Metrics | undefined
  recorder?: Recorder | undefined
  /**
   * If false, live streams read a state only after an announced change, and no lost announcement is repaired. For tests,
   * which must find a missing announcement.
   *
   * @internal
   */
  compareStates?: boolean
}

/** Opens the database, applies pending migrations, and creates the services. By default, creates mailer and metrics. */
export async function openServices(
  declared: App,
  settings: Settings,
  options: Options = {},
): Promise<OpenServices> {
  const app = settings.production ? declared : refuseUndeclared(declared)
  const log = createLog(settings)
  const { databaseUrl, answerTimeout } = settings
  warnOfIgnoredParameters(settings, log)
  const metrics = options.metrics ?? (await loadMetrics(settings, app))
  const { recorder } = options
  const observers = [metrics, recorder, tracing].flatMap((observer) =>
    observer ? [observer.observeStatement] : [],
  )
  const { db, notifications, dump, close } = await open(databaseUrl, {
    ...migrationOptions(app, settings, log),
    answerTimeout,
    observers,
  })
  await createKeys(db)
  const send = options.mailer ?? createMailer(settings, log)
  const auth = createAuth(settings, db, metrics?.observeMails(send) ?? send, log, app)
  const identity = {
    ...(await createCookieIdentity(auth)),
    verifyToken: createVerifier(db, settings.baseUrl),
  }
  const services = {
    settings,
    app,
    db,
    identity,
    log,
    isReachable: () => isReachable(db),
    consumeRateLimit: createRateLimiter(settings, app.rateLimits, db, metrics?.rateLimitExceeded),
    metrics,
    recorder,
    state: { stopping: false },
    closing: new AbortController(),
  }
  const live = createLive(services, notifications, options)
  return {
    ...services,
    auth,
    live,
    notifications,
    ...(dump && { dump }),
    close: async () => {
      await live.stop()
      await close()
    },
  }
}

/** Applies pending migrations to the PostgreSQL server of DATABASE_URL. */
export const migrateDatabase = (app: App, settings: Settings) =>
  migrate(settings.databaseUrl, migrationOptions(app, settings, createLog(settings)))

const migrationOptions = ({ migrationsFolder }: App, { directUrl }: Settings, log: Logger) => ({
  migrationsFolder,
  directUrl,
  onMigrated: (state: MigrationState) => {
    logMigrations(state, log)
  },
})

function logMigrations({ pending, changed, unknown }: MigrationState, log: Logger) {
  if (pending.length > 0) log.info({ migrations: pending }, 'migrations applied')
  if (unknown.length > 0)
    log.warn(
      { migrations: unknown.map(({ name }) => name) },
      'the database has migrations that this release does not know: of a later release, or of another branch',
    )
  if (changed.length > 0)
    log.warn(
      { migrations: changed },
      'the files of applied migrations have changed. Restore the files, and write changes as new migrations',
    )
}

function warnOfIgnoredParameters({ databaseUrl, directUrl }: Settings, log: Logger) {
  for (const [setting, url] of Object.entries({
    DATABASE_URL: databaseUrl,
    DATABASE_DIRECT_URL: directUrl,
  })) {
    if (url === undefined || !isServer(url)) continue
    const { ignored } = parseDatabaseUrl(url)
    if (ignored.length > 0) log.warn(`${setting}: parameters without effect: ${ignored.join(', ')}`)
  }
}

/**
 * Imports the metrics module only if METRICS_PORT is set, because the import takes longer than the rest of the start.
 */
export const loadMetrics = async (settings: Settings, app: App) =>
  settings.metricsPort === undefined
    ? undefined
    : (await import('./telemetry/metrics.ts')).createMetrics(settings, app)
