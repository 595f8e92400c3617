import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Logger } from 'pino'

import type { Database } from './db/database.ts'
import type { StatementObserver } from './db/observer.ts'
import type { ConsumeRateLimit, Identity, RequestAttributes } from './context.ts'
import type { Live } from './live-stream.ts'
import type { App } from './resource.ts'
import type { Settings } from './settings.ts'

/** The shared components of the service, created once for each process. */
export interface Services {
  settings: Settings
  app: App
  db: Database
  identity: Identity
  log: Logger
  /** Returns whether the database answers. */
  isReachable: () => Promise<boolean>
  consumeRateLimit: ConsumeRateLimit
  /** Undefined unless METRICS_PORT is set. */
  metrics?: Metrics | undefined
  /** Undefined without the console for developers. */
  recorder?: Recorder | undefined
  /** Binds the handling of a request to the request (engine/telemetry/rejections.ts). Only in development. */
  bindRequest?: ((request: IncomingMessage, handle: () => void) => () => void) | undefined
  state: {
    /**
     * Whether the process is shutting down. If true, readiness checks fail, so that load balancers send no new
     * requests.
     */
    stopping: boolean
  }
  /** Aborted when the server stops accepting connections. Open event streams then end. */
  closing: AbortController
  live: Live
}

/** The metrics of HTTP requests, and the server that publishes all metrics. */
export interface Metrics {
  request: (request: IncomingMessage, response: ServerResponse, attributesOf: AttributesOf) => void
  /** Counts a call of a batch. Returns the function to call with the status of the call. */
  startCall: (attributes: RequestAttributes) => (status: number) => void
  shed: (reason: 'full' | 'late' | 'incomplete') => void
  observeStreams: (count: () => number, isConnected: () => boolean) => void
  /** Counts an event of a stream. `since` is the time of the change, in milliseconds since the start of the process. */
  delivered: (since: number) => void
  serve: () => Promise<Server>
}

/** Records requests while a developer looks at the requests (engine/console/). */
export interface Recorder {
  observeStatement: StatementObserver
  /** Returns a function that handles and records a request. Without a developer who looks, returns `handle` itself. */
  record: (
    request: IncomingMessage,
    response: ServerResponse,
    attributesOf: AttributesOf,
    handle: () => void,
  ) => () => void
}

/**
 * Returns the attributes of a request. The attributes are complete when the response has been sent. Undefined if the
 * request was refused before the context of its call was created.
 */
export type AttributesOf = (request: IncomingMessage) => RequestAttributes | undefined
