import { createServer, type Server } from 'node:http'
import { unavailable } from 'tallystick-contract/internal'

import { isLivenessCheck, sendAlive } from '../endpoints/health.ts'
import { listen } from '../../settings/listen.ts'
import type { Settings } from '../../settings/settings.ts'
import { LIMITS } from './app.ts'
import { refuseUnparsable } from './parser-errors.ts'
import { createPreflights, createResponseHeaders, sendError } from './send.ts'
import { readTarget } from './request.ts'

/**
 * Listens on HOST and PORT before the database is opened, so that an occupied port is reported before anything is
 * migrated. Until the service is ready, answers liveness checks with 200 and every other request with 503. The service
 * then takes over the port.
 */
export async function listenWhileStarting(settings: Settings): Promise<Server> {
  const setHeaders = createResponseHeaders(settings)
  const answerPreflight = createPreflights(settings)
  const server = createServer(LIMITS, (request, response) => {
    const target = readTarget(request, settings.baseUrl)
    request.url = target.path
    setHeaders({ request, response, target })
    response.setHeader('connection', 'close')
    if (answerPreflight({ request, response, target })) return
    if (isLivenessCheck(request)) sendAlive(response)
    else sendError(response, unavailable('The service is starting; try again'))
  })
  server.on('clientError', refuseUnparsable)
  return listen(server, settings, 'PORT')
}
