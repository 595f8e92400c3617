import type { IncomingMessage, ServerResponse } from 'node:http'
import { pinoHttp } from 'pino-http'

import type { AttributesOf, Services } from '../../services.ts'
import { describeError, MAX_PATH } from '../../telemetry/log.ts'
import { isHealthCheck } from '../endpoints/health.ts'

/**
 * Logs one line for each request except health checks, with the id of `X-Request-Id`. Omits queries and headers, which
 * may contain secrets.
 */
export function createRequestLog(
  { log }: Services,
  attributesOf: AttributesOf,
): (request: IncomingMessage, response: ServerResponse) => void {
  if (!log.isLevelEnabled('info')) return () => undefined
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
