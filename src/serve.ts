import cluster from 'node:cluster'
import { once } from 'node:events'
import type { Logger } from 'pino'

import { removeExpired } from '../db/housekeeping.ts'
import type { Services } from './context.ts'
import { createApp } from './http/app.ts'
import { createLog } from './telemetry/log.ts'
import { toErrorMessage } from './cli/error-message.ts'
import { openServices } from './service.ts'
import { readSettings, type Settings } from './settings.ts'
import { onStopSignal, startWorkers } from './workers.ts'

/** How long a stop may take, in milliseconds. */
const DEADLINE = 10_000

const HOUR = 3_600_000

/** Serves until it is told to stop. Where it cannot start, it says why and ends the process. */
export async function serve(environment: NodeJS.ProcessEnv) {
  try {
    const settings = readSettings(environment)
    endOnUncaught(createLog(settings))
    if (settings.workers > 1 && cluster.isPrimary) await serveByWorkers(settings)
    else await serveAlone(settings)
    if (cluster.isPrimary) greet(settings)
  } catch (error) {
    process.stderr.write(`${toErrorMessage(error)}\n`)
    process.exit(1)
  }
}

/** Ends the process on an error that no code catches, as Node does. Node would print the error whole, with what callers sent. */
function endOnUncaught(log: Logger) {
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'the process ends: no code catches this error')
    process.exit(1)
  })
}

async function serveAlone(settings: Settings) {
  const services = await openServices(settings)
  const server = createApp(services)
  /** Says that it is stopping, finishes what is in flight, closes the database, and ends. */
  onStopSignal(() => {
    endByDeadline(settings)
    services.state.stopping = true
    setTimeout(() => {
      // A connection that turns idle while the rest drains would hold the stop up.
      setInterval(() => {
        server.closeIdleConnections()
      }, 100)
      server.close(() => void services.close().then(() => process.exit(0)))
    }, settings.stopDelay)
  })
  server.listen(settings.port, settings.host)
  await once(server, 'listening')
  if (cluster.isPrimary) await services.metrics?.serve()
  keepHouse(services)
}

/** Every hour what has expired is removed, by one of all instances. */
function keepHouse({ db, log, settings }: Services) {
  const tidy = () => {
    removeExpired(db, settings.auditRetention).catch((error: unknown) => {
      log.error({ err: error }, 'what has expired could not be removed')
    })
  }
  tidy()
  setInterval(tidy, HOUR).unref()
}

async function serveByWorkers(settings: Settings) {
  const stop = await startWorkers(settings.workers, createLog(settings), (code) => process.exit(code))
  onStopSignal(() => {
    endByDeadline(settings)
    stop()
  })
  if (settings.metricsPort !== undefined)
    await (await import('./telemetry/metrics.ts')).serveWorkersMetrics(settings)
}

const endByDeadline = ({ stopDelay }: Settings) =>
  setTimeout(() => process.exit(1), stopDelay + DEADLINE).unref()

function greet({ baseUrl, host, port }: Settings) {
  process.stdout.write(
    [
      `Tallystick listens on ${host}:${port} as ${baseUrl}`,
      `  Reference   ${baseUrl}/docs`,
      `  Sign in     POST ${baseUrl}/api/auth/email-otp/send-verification-otp  {"email": "you@example.com", "type": "sign-in"}`,
      `              POST ${baseUrl}/api/auth/sign-in/email-otp  {"email": "you@example.com", "otp": "the code"}`,
      `              Without SMTP_URL the code stands in this log, and in a letter in the outbox.`,
      '',
    ].join('\n'),
  )
}
