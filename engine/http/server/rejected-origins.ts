import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'

import type { Settings } from '../../settings.ts'

/** Maximum number of origins that are logged, so that requests cannot flood the log. */
const MAX_LOGGED = 20
/** Maximum length of a logged origin. */
const MAX_ORIGIN = 200

/** Names both cases, because a proxy may have forwarded the request of a page without changing `Origin`. */
const MESSAGE =
  'this origin is not trusted: the service refuses changes with a cookie from this origin, and the browser hides answers from its pages. If a proxy on this origin forwards to the service, set BASE_URL to this origin instead'

/**
 * For development: creates the function that logs the origin of a page that the service does not trust, once for each
 * origin, with the setting that would allow the origin.
 */
export function createOriginLog({ baseUrl, trustedOrigins }: Settings, log: Logger) {
  const known = new Set([baseUrl, ...trustedOrigins])
  const maximum = known.size + MAX_LOGGED

  return (request: IncomingMessage, response: ServerResponse) => {
    const { origin, 'sec-fetch-site': site } = request.headers
    if (origin === undefined || site === 'same-origin' || known.has(origin)) return
    response.once('finish', () => {
      if (response.hasHeader('access-control-allow-origin') || known.has(origin)) return
      if (known.size === maximum || !isOrigin(origin)) return
      known.add(origin)
      const setting = `TRUSTED_ORIGINS=${[...trustedOrigins, origin].join(',')}`
      log.warn({ origin, setting }, MESSAGE)
    })
  }
}

const isOrigin = (text: string) =>
  text.length <= MAX_ORIGIN && /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text
