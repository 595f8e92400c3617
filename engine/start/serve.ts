import cluster from 'node:cluster'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Logger } from 'pino'

import { removeExpired } from '../db/housekeeping.ts'
import { isServer } from '../db/connection/open.ts'
import type { App } from '../app/resource.ts'
import type { BuiltInEndpoints } from '../http/endpoints/endpoints.ts'
import type { Services } from '../http/server/services.ts'
import { createApp } from '../http/server/app.ts'
import { listenForCommands } from '../operator/command-server.ts'
import { listenWhileStarting } from '../http/server/starting.ts'
import { createLog } from '../telemetry/log.ts'
import { logRejections } from '../telemetry/rejections.ts'
import { toErrorMessage } from '../db/errors.ts'
import { loadMetrics, migrateDatabase, type OpenServices, openServices } from './open-services.ts'
import { readSettings, type Settings } from '../settings/settings.ts'
import { runOnStart } from './on-start.ts'
import { onStopSignal, startWorkers, stopWithParent } from './workers.ts'

export { loadEnvironmentFiles } from '../settings/environment-files.ts'

/**
 * Time limit for in-flight requests during a shutdown, in milliseconds. If requests are still in flight after this
 * time, the process exits with code 1.
 */
const DRAIN_TIMEOUT = 10_000

/**
 * Time from a stop signal until the server stops accepting connections, in milliseconds. A load balancer needs this time to
 * notice that the readiness check fails.
 */
const STOP_DELAY = 3000

/** The service is behind a load balancer if TRUSTED_PROXIES names its address. */
const stopDelayOf = ({ trustedProxies }: Settings) => (trustedProxies.length > 0 ? STOP_DELAY : 0)

const HOUR = 3_600_000

/** With one of these settings, the service is not only for the developer who started the service. */
const SETTINGS_OF_DEPLOYMENTS = ['NODE_ENV', 'HOST', 'BASE_URL', 'DATABASE_URL', 'TRUSTED_PROXIES']

/**
 * Returns whether the service may have the console for developers. `CONSOLE=off` disables the console.
 *
 * @example
 * const hasConsole = mayHaveConsole(process.env, settings, false)
 */
export const mayHaveConsole = (
  environment: NodeJS.ProcessEnv,
  { console, production, workers }: Pick<Settings, 'console' | 'production' | 'workers'>,
  isDevelopment: boolean,
) =>
  console &&
  !production &&
  workers === 1 &&
  (isDevelopment || SETTINGS_OF_DEPLOYMENTS.every((name) => (environment[name] ?? '') === ''))

/**
 * Runs the service until SIGTERM or SIGINT. If the start fails, prints the error and exits with code 1. `isDevelopment`:
 * `tallystick dev` runs the service.
 */
export async function serve(app: App, environment: NodeJS.ProcessEnv, { isDevelopment = false } = {}) {
  try {
    if (isDevelopment && cluster.isPrimary) stopWithParent()
    const configured = readSettings(environment, app)
    const log = createLog(configured)
    exitOnUncaughtException(log)
    // With `bindRequest`, the log of a rejected promise names the request.
    const bindRequest = isDevelopment ? logRejections(log) : undefined
    const starting = cluster.isPrimary ? await listenWhileStarting(configured) : undefined
    // With PORT=0, the system has chosen the port. The default of BASE_URL contains the port, so the settings are read again.
    const settings =
      starting && configured.port === 0
        ? readSettings({ ...environment, PORT: String((starting.address() as AddressInfo).port) }, app)
        : configured
    if (settings.workers > 1 && starting) {
      await serveWithWorkers(app, settings, starting, log)
      reportStart(app, settings, log)
      return
    }
    // Imported on demand, so that production does not load the console.
    const developerConsole = mayHaveConsole(environment, settings, isDevelopment)
      ? (await import('../console/index.ts')).createConsole(app, { isDevelopment })
      : undefined
    const options = { ...developerConsole, bindRequest }
    const services = await serveInThisProcess(app, settings, starting, options)
    if (cluster.isPrimary) reportStart(app, settings, log)
    await developerConsole?.open(services)
  } catch (error) {
    process.stderr.write(`${toErrorMessage(error)}\n`)
    process.exit(1)
  }
}

/**
 * Logs an uncaught exception, and exits. A rejected promise that no code awaits is an uncaught exception too, except in
 * development. Without this handler, Node.js would print the complete error, which may contain data of requests.
 */
function exitOnUncaughtException(log: Logger) {
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception: the process exits')
    process.exit(1)
  })
}

interface DeveloperParts extends Pick<Services, 'recorder' | 'bindRequest'> {
  createEndpoints?: ((services: OpenServices) => BuiltInEndpoints) | undefined
}

/** Takes over the port of `starting`. A worker process has no such server, and shares the port of the primary process. */
async function serveInThisProcess(
  app: App,
  settings: Settings,
  starting: Server | undefined,
  { recorder, bindRequest, createEndpoints }: DeveloperParts,
) {
  const metrics = await loadMetrics(settings, app)
  // The metrics of workers are served by the primary process: see `serveWithWorkers`.
  if (cluster.isPrimary) await metrics?.serve()
  const opened = await openServices(app, settings, { metrics, recorder })
  const developerEndpoints = createEndpoints?.(opened)
  const services = { ...opened, bindRequest, developerEndpoints }
  const runOnStop = await runOnStart(services)
  const server = createApp(services)
  const commands = await listenForCommands(app, services)
  const connections = new Set<Socket>()
  server.on('connection', (socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  // Graceful shutdown. First, `stopping` makes the readiness check fail, so that load balancers stop sending requests. After
  // STOP_DELAY, the server stops accepting connections, finishes in-flight requests and commands, closes the database, and exits.
  onStopSignal(() => {
    exitAfterTimeout(settings)
    services.state.stopping = true
    setTimeout(() => {
      // `server.close` waits until all connections are closed, so this timer closes connections that become idle.
      setInterval(() => {
        server.closeIdleConnections()
        // Browsers and fetch() open connections in advance. Node counts a connection before its first request as active.
        for (const connection of connections) if (connection.bytesRead === 0) connection.destroy()
      }, 100)
      services.closing.abort()
      // The worker of jobs waits some seconds for running jobs, so that it begins to stop together with the servers. `runOnStop` follows,
      // because a job may use what it closes.
      void Promise.all([closeServer(server), commands && closeServer(commands), services.worker.stop()])
        .then(runOnStop)
        .then(() => services.close())
        .then(() => process.exit(0))
    }, stopDelayOf(settings))
  })
  if (starting) server.listen(starting)
  else server.listen(settings.port, settings.host)
  await once(server, 'listening')
  scheduleCleanup(services)
  services.worker.start()
  return services
}

/** Stops accepting connections. Resolves when all connections are closed. */
const closeServer = (server: Server) =>
  new Promise<void>((resolve) => {
    server.close(() => {
      resolve()
    })
  })

/**
 * Removes expired rows at the start and every hour. If several instances share a database, a lock ensures that only one
 * instance at a time removes rows.
 */
function scheduleCleanup({ db, log, settings }: Pick<Services, 'db' | 'log' | 'settings'>) {
  const cleanUp = () => {
    removeExpired(db, settings.auditRetention).catch((error: unknown) => {
      log.error({ err: error }, 'removing expired rows failed; the next attempt is in an hour')
    })
  }
  cleanUp()
  setInterval(cleanUp, HOUR).unref()
}

/** Migrates the database, and then closes the port of `starting`, so that the workers can listen. */
async function serveWithWorkers(app: App, settings: Settings, starting: Server, log: Logger) {
  if (settings.metricsPort !== undefined)
    await (await import('../telemetry/metrics.ts')).serveClusterMetrics(settings)
  await migrateDatabase(app, settings)
  starting.close()
  const environment = { PORT: String(settings.port), BASE_URL: settings.baseUrl }
  const stop = await startWorkers(settings.workers, log, (code) => process.exit(code), environment)
  onStopSignal(() => {
    exitAfterTimeout(settings)
    stop()
  })
}

const exitAfterTimeout = (settings: Settings) =>
  setTimeout(() => process.exit(1), stopDelayOf(settings) + DRAIN_TIMEOUT).unref()

/** Prints the addresses of the service. In production, logs one line instead: standard output has only lines of the log. */
function reportStart({ name }: App, settings: Settings, log: Logger) {
  const { baseUrl, host, port, databaseUrl, metricsPort, production } = settings
  const message = `${name} listens on ${host}:${port} as ${baseUrl}`
  if (production) {
    log.info(message)
    return
  }
  const lines = {
    Page: baseUrl,
    Reference: `${baseUrl}/docs`,
    Agents: `${baseUrl}/mcp`,
    ...(metricsPort === undefined ? {} : { Metrics: `http://${host}:${metricsPort}/metrics` }),
    'Sign-in codes': describeMail(settings),
    Data: describeData(databaseUrl),
  }
  process.stdout.write(
    [message, ...Object.entries(lines).map(([title, text]) => `  ${title.padEnd(15)}${text}`), ''].join('\n'),
  )
}

function describeMail({ smtpUrl, outbox, logLevel }: Settings) {
  if (smtpUrl !== undefined) return `sent by the mail server ${new URL(smtpUrl).host}`
  const places = ['info', 'debug', 'trace'].includes(logLevel)
    ? `in this log and in ${outbox}`
    : `in ${outbox}`
  return `${places}, until SMTP_URL is set`
}

const describeData = (databaseUrl: string) =>
  isServer(databaseUrl)
    ? 'in the PostgreSQL server of DATABASE_URL'
    : databaseUrl === 'memory:'
      ? 'in memory: lost when the service stops'
      : `in ${databaseUrl}`
