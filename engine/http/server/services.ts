import type { Logger } from 'pino'

import type { App } from '../../app/resource.ts'
import type { Inserts } from '../../call/connection.ts'
import type { ConsumeRateLimit, Identity } from '../../call/context.ts'
import type { Live } from '../../call/live-stream.ts'
import type { Database } from '../../db/connection/database.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { Recorder } from '../../telemetry/recording.ts'
import type { BindRequest } from '../../telemetry/rejections.ts'
import type { BuiltInEndpoints } from '../endpoints/endpoints.ts'

/**
 * The shared components of the service, created once for each process. Only the code that opens and wires them has this
 * type: a function takes the components that it uses.
 */
export interface Services extends Inserts {
  settings: Settings
  app: App
  db: Database
  identity: Identity
  log: Logger
  now: () => Date
  /** Returns whether the database answers. */
  isReachable: () => Promise<boolean>
  consumeRateLimit: ConsumeRateLimit
  /** Undefined unless METRICS_PORT is set. */
  metrics?: Metrics | undefined
  /** Undefined without the console for developers. */
  recorder?: Recorder | undefined
  /** What the page of the application can call beside the console for developers. Pages then know that they are in development. */
  developerEndpoints?: BuiltInEndpoints | undefined
  /** Runs a request in a context by which the log of rejected promises finds the request. Only in development. */
  bindRequest?: BindRequest | undefined
  /**
   * Whether the process is shutting down. If true, readiness checks fail, so that load balancers send no new requests.
   */
  state: { stopping: boolean }
  /** Aborted when the server stops accepting connections. Open event streams then end. */
  closing: AbortController
  live: Live
}
