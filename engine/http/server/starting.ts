import { createServer, type Server } from 'node:http'
import { unavailable } from 'tallystick-contract/internal'

import { isLivenessCheck, sendAlive } from '../endpoints/health.ts'
import { listen } from '../../listen.ts'
import type { Settings } from '../../settings.ts'
import { LIMITS } from './app.ts'
import { refuseUnparsable } from './parser-errors.ts'
import { createPreflights, createResponseHeaders } from './response-headers.ts'
import { sendError } from './send.ts'
import { readTarget } from './target.ts'

/**
 * Listens on HOST and PORT before the database is opened, so that an occupied port is reported before anything is
 * migrated. Until the service is ready, answers liveness checks with 200 and every other request with 503. The service
 * then takes over the port.
 */
export async function listenWhileStarting(settings: Settings): Promise<Server> {
  const responseHeadersFor = createResponseHeaders(settings)
  const preflightFor = createPreflights(settings)
  const server = createServer(LIMITS, (request, response) => {
    const { path } = readTarget(request, settings.baseUrl)
    const { method, headers } = request
    request.url = path
    for (const [name, value] of responseHeadersFor(headers.origin, path)) response.setHeader(name, value)
    response.setHeader('connection', 'close')
    const refuse = () => sendError(response, unavailable('The service is starting; try again'))
    const preflight = method === 'OPTIONS' ? preflightFor(headers.origin ?? '', path) : undefined
    if (preflight) preflight(request, response, refuse)
    else if (isLivenessCheck(request)) sendAlive(response)
    else refuse()
  })
  server.on('clientError', refuseUnparsable)
  return listen(server, settings, 'PORT')
}
