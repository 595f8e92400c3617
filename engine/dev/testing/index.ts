import { createRouterClient } from '@orpc/server'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AnyContractRouter } from '@orpc/contract'
import type { CallContext, ClientOf } from 'tallystick-contract'

import type { App } from 'tallystick/internal/app/resource'
import { createContext } from 'tallystick/internal/guard/authentication'
import { openServices } from 'tallystick/internal/start/open-services'
import { readSettings } from 'tallystick/internal/settings/settings'
import type { Letter, Tallystick } from './harness.ts'
import { disableStoragesAfter } from 'tallystick/internal/identity/async-storages'

// For tests: starts an application. The types alone are in engine/dev/testing/harness.ts.

export type { Letter, Tallystick } from './harness.ts'

/**
 * Starts an application in this process, without a port. The procedures, guard, validation and errors are the same as over
 * HTTP. `environment` contains settings by name. By default, the database is a new one on the server of the test run
 * (engine/dev/testing/setup.ts), or in memory if the test run has no server.
 */
export async function createTallystick<
  Contract extends AnyContractRouter,
  Implementation extends App['router'],
>(
  app: App<Contract, Implementation>,
  environment: Record<string, string> = {},
  options: {
    /** The time of `context.now()`. By default, the time of the system. */
    now?: () => Date
    /** @internal Only for tests and laws of the engine: `false` disables the regular reads of live states. */
    compareStates?: boolean
  } = {},
): Promise<Tallystick<ClientOf<Contract>>> {
  // Not the variable VITEST, because processes that a test starts inherit the variable.
  const isTest = '__vitest_worker__' in globalThis
  // Imported on demand, because programs that are no tests use this function too, and ./database.ts imports Vitest.
  const database =
    isTest && environment.DATABASE_URL === undefined
      ? await (await import('./database.ts')).createTestDatabase(app)
      : undefined
  const settings = readSettings(
    {
      DATABASE_URL: database?.url ?? 'memory:',
      AUTH_SECRET: randomBytes(32).toString('hex'),
      RATE_LIMITS: 'off',
      LOG_LEVEL: 'silent',
      ...environment,
    },
    app,
  )
  const letters: Letter[] = []
  const mailer = (email: Letter) => {
    letters.push(email)
    return Promise.resolve()
  }
  const { close, ...services } = await openServices(app, settings, { mailer, ...options })

  const client = (headers: Record<string, string>) =>
    createRouterClient<App['router'], CallContext>(services.app.router, {
      context: ({ reply, headers: ofCall }: CallContext) =>
        createContext(services, { ...headers, ...ofCall }, { reply }),
    }) as unknown as ClientOf<Contract>

  const signIn = (email: string) =>
    disableStoragesAfter(async () => {
      const { api } = services.auth
      await api.sendVerificationOTP({ body: { email, type: 'sign-in' } })
      // The subject begins with the code, which has six digits.
      const otp = letters.findLast(({ to }) => to === email.toLowerCase())?.subject.slice(0, 6) ?? ''
      const { headers } = await api.signInEmailOTP({ body: { email, otp }, returnHeaders: true })
      return cookieOf(headers)
    })

  const servers: Server[] = []
  const stops: (() => Promise<void>)[] = []
  const listen = async (port = 0) => {
    // Imported on demand: most tests call the procedures in this process.
    const [{ createApp }, { runOnStart }] = await Promise.all([
      import('tallystick/internal/http/server/app'),
      import('tallystick/internal/start/on-start'),
    ])
    stops.push(await runOnStart(services))
    const server = createApp(services).listen(port, '127.0.0.1')
    servers.push(server)
    await once(server, 'listening')
    const address = server.address()
    return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : port}`
  }

  return {
    person: async (email = randomEmail()) => client({ cookie: await signIn(email) }),
    stranger: client({}),
    signIn,
    client,
    services,
    context: () => createContext(services, {}),
    runDueJobs: ({ until = new Date(Date.now() + CLOCK_TOLERANCE) } = {}) => services.worker.runDue(until),
    letters,
    listen,
    close: async () => {
      for (const server of servers) {
        server.close()
        server.closeAllConnections()
      }
      await services.worker.stop()
      for (const stop of stops) await stop()
      await close()
      await database?.drop()
    },
  }
}

/** The clock of the database can be late, in milliseconds. */
const CLOCK_TOLERANCE = 1000

const randomEmail = () => `${randomBytes(8).toString('hex')}@example.com`

/** Converts the `Set-Cookie` headers of a response into the `cookie` header of a request. */
export const cookieOf = (headers: Headers) =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0])
    .join('; ')
