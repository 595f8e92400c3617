import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { pinoHttp } from 'pino-http'

import type { AttributesOf, RequestAttributes } from '../../call/context.ts'
import type { Settings } from '../../settings/settings.ts'
import { describeError } from '../../telemetry/error-descriptions.ts'
import { MAX_PATH } from '../../telemetry/log.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { Recorder } from '../../telemetry/recording.ts'
import type { BindRequest } from '../../telemetry/rejections.ts'
import { tracing } from '../../telemetry/tracing.ts'
import { isHealthCheck } from '../endpoints/health.ts'
import { MeasuredResponse } from './connection.ts'
import type { Call, Exchange, Step } from './protocol.ts'
import { createSettingHint } from './setting-hints.ts'

interface Parts {
  settings: Settings
  log: Logger
  metrics?: Metrics | undefined
  recorder?: Recorder | undefined
  bindRequest?: BindRequest | undefined
}

/** Creates the steps that observe requests, without effect on the answers. */
export function createObservation({ settings, log, metrics, recorder, bindRequest }: Parts) {
  const isObserved = Boolean(metrics ?? recorder ?? tracing) || log.isLevelEnabled('info')
  const attributes = isObserved ? new WeakMap<IncomingMessage, RequestAttributes>() : undefined
  const attributesOf: AttributesOf = (request) => attributes?.get(request)
  const logRequest = log.isLevelEnabled('info') ? createRequestLog(log, attributesOf) : undefined
  const hint = createSettingHint({ settings, log })

  /** Logs and counts the request, and logs a setting that does not fit the request. Returns false: other steps answer. */
  const observe: Step = (exchange) => {
    const { request, response } = exchange
    logRequest?.(request, response)
    metrics?.request(request, response, attributesOf)
    hint?.(exchange)
    return false
  }

  /** Records the request for the console, and names the request in the log of a rejected promise. Only in development. */
  const bind: Step = (exchange) => {
    const { request, response } = exchange
    exchange.handle = recorder?.record(request, response, attributesOf, exchange.handle) ?? exchange.handle
    exchange.handle = bindRequest?.(request, exchange.handle) ?? exchange.handle
    return false
  }

  return {
    attributesOf,
    observe,
    bind: recorder || bindRequest ? [bind] : [],

    /** Keeps the attributes of a call for the log line, the metrics and the trace of its request. */
    setAttributes({ request, response }: Exchange, { context }: Call) {
      attributes?.set(request, context.attributes)
      if (response instanceof MeasuredResponse) response.attributes = context.attributes
    },
  }
}

/**
 * Logs one line for each request except health checks, with the id of `X-Request-Id`. Omits queries and headers, which
 * may contain secrets.
 */
function createRequestLog(
  log: Logger,
  attributesOf: AttributesOf,
): (request: IncomingMessage, response: ServerResponse) => void {
  const withAttributes = (request: IncomingMessage, line: object) => ({ ...line, ...attributesOf(request) })
  return pinoHttp({
    logger: log,
    autoLogging: { ignore: isHealthCheck },
    customSuccessObject: (request, _, line: object) => withAttributes(request, line),
    // Removes `err`, because pino-http creates this error from the status code. engine/http/server/app.ts and the guard
    // log the actual error.
    customErrorObject: (request, _, __, { err: _error, ...line }: { err?: unknown }) =>
      withAttributes(request, line),
    wrapSerializers: false,
    serializers: {
      req: ({ id, method, url }: IncomingMessage) => ({ id, method, path: url?.slice(0, MAX_PATH) }),
      res: ({ statusCode }: ServerResponse) => ({ status: statusCode }),
      err: describeError,
    },
  })
}
