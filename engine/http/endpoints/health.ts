import type { IncomingMessage, ServerResponse } from 'node:http'
import { unavailable } from 'tallystick-contract/internal'

import { hasBody } from '../server/body.ts'
import type { BuiltInEndpoint, BuiltInEndpoints } from './endpoints.ts'
import { sendBody, sendError } from '../server/send.ts'

const LIVE = '/api/health/live'
const READY = '/api/health/ready'

const isRead = ({ method = '', headers }: IncomingMessage) =>
  (method === 'GET' || method === 'HEAD') && !hasBody(headers)

/** The server answers this check itself while the service starts (engine/http/server/starting.ts). */
export const isLivenessCheck = (request: IncomingMessage) => request.url === LIVE && isRead(request)

/** Health checks are answered even if MAX_REQUESTS is reached, and are not logged. */
export const isHealthCheck = (request: IncomingMessage) =>
  (request.url === LIVE || request.url === READY) && isRead(request)

const OK = JSON.stringify({ status: 'ok' })

export const sendAlive = (response: ServerResponse) => sendBody(response, 200, OK)

const check = (respond: BuiltInEndpoint['answer']): BuiltInEndpoint => ({ methods: ['GET'], answer: respond })

interface HealthParts {
  state: { stopping: boolean }
  /** Returns whether the database answers. */
  isReachable: () => Promise<boolean>
}

/**
 * Creates the health checks. Liveness: the process runs. Readiness: the process is not stopping, and the database
 * answers, so load balancers should send requests.
 */
export function createHealthEndpoints({ state, isReachable }: HealthParts): BuiltInEndpoints {
  // Concurrent checks share one SQL statement. Otherwise, many checks could overload the database, because MAX_REQUESTS
  // does not limit health checks.
  let probe: Promise<boolean> | undefined
  const probeDatabase = () =>
    (probe ??= isReachable().finally(() => {
      probe = undefined
    }))

  return {
    [LIVE]: check((_, response) => sendAlive(response)),
    [READY]: check(async (_, response) => {
      if (state.stopping) return sendError(response, unavailable('The service is stopping'))
      if (!(await probeDatabase())) return sendError(response, unavailable('The database does not answer'))
      return sendBody(response, 200, OK)
    }),
  }
}
