import type { Logger } from 'pino'

import type { Connection } from '../db/connection/database.ts'
import { parseDatabaseUrl } from '../db/connection/database-url.ts'
import type { MigrationState } from '../db/migrate/migrations.ts'
import { isReachable, isServer, migrate, open } from '../db/connection/open.ts'
import { type App, wantedMigrations } from '../app/resource.ts'
import type { Services } from '../http/server/services.ts'
import type { Recorder } from '../telemetry/recording.ts'
import { createRateLimiter } from '../guard/rate-limiter.ts'
import { type Auth, createAuth } from '../identity/better-auth.ts'
import { createCookieIdentity } from '../identity/cookie-identity.ts'
import { createJobs, type Worker } from '../jobs/index.ts'
import { createLive } from '../live/index.ts'
import { createMailer, type Mailer } from '../identity/mail.ts'
import { createVerifier } from '../identity/token-verifier.ts'
import { createMissingKeys } from '../identity/tokens.ts'
import type { Settings } from '../settings/settings.ts'
import { createLog } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { tracing } from '../telemetry/tracing.ts'
import { refuseUndeclaredOutputs } from './define-app/declared.ts'

export interface OpenServices extends Services, Omit<Connection, 'db'> {
  auth: Auth
  /** Runs the jobs. Only `serve` starts the worker, and tests run the jobs by themselves. */
  worker: Worker
}

interface Options {
  mailer?: Mailer
  metrics?: Metrics | undefined
  recorder?: Recorder | undefined
  /** By default, the time of the system. */
  now?: () => Date
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
  // In production, undeclared properties of an output are removed. Elsewhere they are errors, so that a developer finds them.
  const app = settings.production ? declared : refuseUndeclaredOutputs(declared)
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
  await createMissingKeys(db)
  const send = options.mailer ?? createMailer(settings, log)
  const mailer = metrics?.observeMails(send) ?? send
  const now = options.now ?? (() => new Date())
  const { onSignUp } = app
  const auth = createAuth(settings, db, mailer, log, app, {
    providers: await loadProviders(app, settings, mailer, log),
    ...(onSignUp && { onSignUp: (person, tx) => onSignUp(person, { db: tx, log, now }) }),
  })
  const identity = {
    ...(await createCookieIdentity(auth)),
    verifyToken: createVerifier(db, settings.baseUrl),
  }
  const consumeRateLimit = createRateLimiter(settings, app.rateLimits, db, metrics?.rateLimitExceeded)
  const jobs = await createJobs({ app, settings, consumeRateLimit }, mailer)
  const services = {
    settings,
    app,
    db,
    identity,
    log,
    now,
    isReachable: () => isReachable(db),
    consumeRateLimit,
    insertJob: jobs.insertJob,
    insertMail: jobs.insertMail,
    metrics,
    recorder,
    state: { stopping: false },
    closing: new AbortController(),
  }
  const live = createLive(services, notifications, options)
  const worker = jobs.createWorker({ ...services, live })
  return {
    ...services,
    auth,
    live,
    worker,
    notifications,
    ...(dump && { dump }),
    close: async () => {
      await worker.stop()
      await live.stop()
      await close()
    },
  }
}

/** Imports the module only if the application declares providers. */
const loadProviders = async ({ signIn, name }: App, settings: Settings, mailer: Mailer, log: Logger) =>
  signIn &&
  (await import('../identity/providers/plugin.ts')).createProviders(signIn, {
    settings,
    appName: name,
    mailer,
    log,
  })

/** Applies pending migrations to the PostgreSQL server of DATABASE_URL. */
export const migrateDatabase = (app: App, settings: Settings) =>
  migrate(settings.databaseUrl, migrationOptions(app, settings, createLog(settings)))

const migrationOptions = (app: App, { directUrl }: Settings, log: Logger) => ({
  ...wantedMigrations(app),
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

/** Imports the metrics module only if METRICS_PORT is set, because the import takes longer than the rest of the start. */
export const loadMetrics = async (settings: Settings, app: App) =>
  settings.metricsPort === undefined
    ? undefined
    : (await import('../telemetry/metrics.ts')).createMetrics(settings, app)
