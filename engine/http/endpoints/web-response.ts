import { setMaxListeners } from 'node:events'
import { type ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import type { App } from '../../app/resource.ts'
import type { Reply } from '../../call/caller.ts'
import type { Log } from '../../call/context.ts'
import type { GuardedEndpoint } from '../../guard/endpoints.ts'
import { endAfterRequest } from '../server/connection.ts'
import { EVENT_STREAM } from '../server/protocol.ts'

/** Time in which an answer must end if the service stops, in milliseconds. Shorter than the time limit of the stop. */
const MAX_END_TIME = 5000

/** The headers that only the engine sets: they protect the connection, the browser and the log. */
const OWN_HEADERS = new Set([
  'connection',
  'content-length',
  'content-security-policy-report-only',
  'cross-origin-resource-policy',
  'date',
  'keep-alive',
  'strict-transport-security',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-content-type-options',
  'x-request-id',
])

/** The headers that extend those of the engine. A second policy can only forbid more. */
const EXTENDING = ['content-security-policy', 'vary']
const isOwnHeader = (name: string) => OWN_HEADERS.has(name) || name.startsWith('access-control-')

/** The lengths of bodies that a storage of files sends. */
const lengths = new WeakMap<Response, number>()

/** Announces the length of a body. The connection breaks if the body has another length. */
export function setContentLength(answer: Response, length: number) {
  lengths.set(answer, length)
  return answer
}

/** The statuses of answers without a body (RFC 9110, section 6.4.1). */
const BODYLESS = [204, 205, 304]

/** Checks that a handler has returned a `Response` that can be sent. */
export function requireUnused(answer: unknown) {
  if (!(answer instanceof Response)) throw new TypeError('The handler of an endpoint must return a Response')
  if (answer.type === 'error' || answer.bodyUsed || answer.body?.locked)
    throw new TypeError(
      'The handler of an endpoint has returned an error response, or a response without its body',
    )
  return answer
}

type HeaderLines = readonly (readonly [name: string, value: string])[]

interface Parts {
  app: Pick<App, 'cookiePrefix'>
  log: Log
  closing: AbortController
}

interface Options {
  endpoint: GuardedEndpoint
  /** Whether the complete body of the request has arrived. */
  isRead: boolean
  stopReading: () => void
}

/** Creates the function that sends the `Response` of a handler. */
export function createResponseSender({ app, log, closing }: Parts) {
  const isOwnCookie = createCookieCheck(app)
  // Each streamed answer listens.
  setMaxListeners(0, closing.signal)

  /** Adds the headers of a handler to a response, except for headers of the engine. Adds none if one is invalid. */
  function setHandlerHeaders(response: ServerResponse, lines: HeaderLines, endpoint: GuardedEndpoint) {
    for (const [name, value] of lines) {
      validateHeaderName(name)
      validateHeaderValue(name, value)
    }
    const ignored = setHeaders(response, lines, isOwnCookie)
    if (ignored.length > 0)
      log.warn(
        { endpoint: endpoint.path.join('.'), headers: ignored },
        'an endpoint set headers of the engine',
      )
  }

  async function sendResponse(
    response: ServerResponse,
    answer: Response,
    { endpoint, isRead, stopReading }: Options,
  ) {
    const { req: request } = response
    // The time for the answer has passed and the service has sent 503, or the client has left.
    if (response.headersSent || response.destroyed) {
      stopReading()
      await answer.body?.cancel()
      return
    }
    setHandlerHeaders(response, [...answer.headers], endpoint)
    // The service may not read the rest of the request, so the connection cannot be reused.
    if (!isRead) response.setHeader('connection', 'close')
    const length = lengths.get(answer)
    if (length !== undefined) response.setHeader('content-length', length)
    response.strictContentLength = length !== undefined
    response.writeHead(answer.status)
    const { body } = answer
    const isBodyless = request.method === 'HEAD' || BODYLESS.includes(answer.status)
    if (isBodyless) await body?.cancel()
    const isSent = isBodyless || !body || (await sendStream(response, body))
    stopReading()
    if (!isSent) return
    if (isRead) response.end()
    else {
      response.flushHeaders()
      endAfterRequest(response)
    }
  }

  /** Sends a body with backpressure. If the client leaves, cancels the body. Returns whether the body is complete. */
  async function sendStream(response: ServerResponse, body: NonNullable<Response['body']>) {
    const isEndless = String(response.getHeader('content-type')).startsWith(EVENT_STREAM)
    const stop = () => setTimeout(() => response.destroy(), isEndless ? 0 : MAX_END_TIME).unref()
    if (closing.signal.aborted) stop()
    closing.signal.addEventListener('abort', stop)
    response.flushHeaders()
    try {
      await pipeline(Readable.fromWeb(body), response, { end: false })
      return true
    } catch (err) {
      // The headers are sent, so that only a broken connection tells the client that the answer is not complete.
      response.destroy()
      if (!isDisconnection(err))
        log.error({ err, req: { id: response.req.id } }, 'the body of an answer failed')
      return false
    } finally {
      closing.signal.removeEventListener('abort', stop)
    }
  }

  return { sendResponse, setHandlerHeaders }
}

const isDisconnection = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'

export const linesOf = (reply: Reply) =>
  [...reply].flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name.toLowerCase(), value]),
  )

/** Adds the headers of a handler to a response. Returns the names of headers that only the engine sets. */
function setHeaders(response: ServerResponse, lines: HeaderLines, isOwnCookie: (line: string) => boolean) {
  const ignored: string[] = []
  for (const [name, value] of lines) {
    const isCookie = name === 'set-cookie'
    if (isOwnHeader(name) || (isCookie && isOwnCookie(value))) ignored.push(name)
    else if (isCookie || EXTENDING.includes(name)) response.appendHeader(name, value)
    else response.setHeader(name, value)
  }
  return ignored
}

/**
 * Returns whether a line of `Set-Cookie` sets a cookie of the engine. Browsers send a cookie without a name as its value, so
 * that `=name=value` also sets `name`.
 */
const createCookieCheck = ({ cookiePrefix }: Pick<App, 'cookiePrefix'>) => {
  const start = `${cookiePrefix}.`.toLowerCase()
  return (line: string) =>
    line
      .replace(/^[\s=]*(?:__(?:host|secure)-)?/i, '')
      .toLowerCase()
      .startsWith(start)
}
