import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

import { toErrorMessage } from 'tallystick/internal/db/errors'
import { listen } from 'tallystick/internal/settings/listen'
import { isLoopback } from 'tallystick/internal/settings/loopback'

/** The host of the service behind the page. */
export const SERVICE_HOST = '127.0.0.1'

const HIGHEST_PORT = 65_535

interface Addresses {
  /** Where the page listens, or the service of a project without a page. */
  host: string
  port: number
  /** The port of the service on SERVICE_HOST, if the project has a page. */
  servicePort: number | undefined
  /** The public origin. */
  baseUrl: string
}

/**
 * Reads HOST, PORT and BASE_URL, and checks that the ports are free. BASE_URL is the public origin, and does not decide
 * where the page listens. Exception: without PORT, the port of a local BASE_URL is used, such as of `http://localhost:4000`.
 */
export async function findAddresses(environment: NodeJS.ProcessEnv, hasPage: boolean): Promise<Addresses> {
  const read = (name: string) => (environment[name] === '' ? undefined : environment[name])
  const host = read('HOST') ?? '127.0.0.1'
  const origin = readOrigin(read('BASE_URL'))
  const wanted = Number(read('PORT') ?? localPortOf(origin) ?? 3000)
  if (!Number.isInteger(wanted) || wanted < 0 || wanted > HIGHEST_PORT)
    throw new Error(`PORT: must be an integer from 0 to ${HIGHEST_PORT}.`)
  const port = await requireFreePort(host, wanted)
  const servicePort = hasPage ? await findServicePort(wanted) : undefined
  return { host, port, servicePort, baseUrl: origin?.origin ?? new URL(`http://localhost:${port}`).origin }
}

function readOrigin(url: string | undefined) {
  if (url === undefined) return undefined
  if (!URL.canParse(url))
    throw new Error('BASE_URL: must be an origin without a path, such as https://example.com.')
  return new URL(url)
}

const localPortOf = (origin: URL | undefined) =>
  origin?.protocol === 'http:' && isLoopback(origin.hostname) ? origin.port || '80' : undefined

/** The port after PORT. Any free port if PORT is 0 or the highest one. */
const findServicePort = (port: number) =>
  requireFreePort(SERVICE_HOST, port === 0 || port === HIGHEST_PORT ? 0 : port + 1).catch(
    (cause: unknown) => {
      // The page would forward requests to the other program.
      throw new Error(`The service behind the page uses the port after PORT. ${toErrorMessage(cause)}`, {
        cause,
      })
    },
  )

/** Throws if another program uses the port. Returns the port, or any free port for 0. */
export async function requireFreePort(host: string, port: number) {
  const server = await listen(createServer(), { host, port }, 'PORT')
  const { port: found } = server.address() as AddressInfo
  await once(server.close(), 'close')
  return found
}
