import { ORPCError } from '@orpc/server'

import type { BuiltInEndpoints } from '../http/endpoints/endpoints.ts'
import { findPerson } from '../http/endpoints/sign-in-pages.ts'
import { sendBody, sendError } from '../http/server/send.ts'
import { addSamples, importSamples } from '../operator/seed.ts'
import type { ServiceParts } from './people.ts'

/**
 * Creates the endpoints that the page of the application uses in development: a redirect to the console, and the sample data for the
 * signed-in person. The redirect has no one-time key, so that it leads into the console only in a browser that has opened the printed
 * address before.
 */
export const createPageEndpoints = (
  { app, db, notifications }: Pick<ServiceParts, 'app' | 'db' | 'notifications'>,
  findConsole: () => string | undefined,
): BuiltInEndpoints => ({
  '/api/development/console': {
    methods: ['GET'],
    answer: (_, response) => {
      const location = findConsole()
      // Without a console, the request has no endpoint: 404.
      if (location === undefined) return false
      response.writeHead(303, { location }).end()
      return true
    },
  },
  '/api/development/samples': {
    methods: ['POST'],
    answer: async (call, response) => {
      const caller = await findPerson(call)
      if (!caller) return sendError(response, new ORPCError('UNAUTHORIZED'))
      await addSamples({ db, notifications }, caller.user.email, await importSamples(app))
      return sendBody(response, 200, JSON.stringify({ success: true }))
    },
  },
})
