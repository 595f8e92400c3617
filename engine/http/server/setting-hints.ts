import type { Logger } from 'pino'

import type { Settings } from '../../settings/settings.ts'
import type { Exchange } from './protocol.ts'

/** Maximum number of origins that are logged, so that requests cannot flood the log. */
const MAX_LOGGED = 20
/** Maximum length of a logged origin. */
const MAX_ORIGIN = 200

/** Names both cases, because a proxy may have forwarded the request of a page without changing `Origin`. */
const UNKNOWN_ORIGIN =
  'this origin is not trusted: the service refuses changes with a cookie from this origin, and the browser hides answers from its pages. If a proxy on this origin forwards to the service, set BASE_URL to this origin instead'

const UNKNOWN_PROXY =
  'a request has X-Forwarded-For, and TRUSTED_PROXIES is unset: all callers behind a proxy share the rate limits of its address. Set TRUSTED_PROXIES to the address of your proxy. Logged once'

/** Logs a setting that does not fit a request. */
type Hint = (exchange: Pick<Exchange, 'request' | 'response'>) => void

/**
 * Creates the function that logs a setting that does not fit the requests: outside of production the origins that are not
 * trusted, in production a proxy that is not named. Undefined if there is nothing to log.
 */
export function createSettingHint({ settings, log }: { settings: Settings; log: Logger }): Hint | undefined {
  if (!settings.production) return createOriginHint(settings, log)
  return settings.trustedProxies.length === 0 ? createProxyHint(log) : undefined
}

/**
 * For development: logs the origin of a page that the service does not trust, once for each origin, with the setting that
 * would allow the origin.
 */
function createOriginHint({ baseUrl, trustedOrigins }: Settings, log: Logger): Hint {
  const allowed = [baseUrl, ...trustedOrigins]
  const logged = new Set<string>()
  const isDone = (origin: string) => allowed.includes(origin) || logged.has(origin)

  return ({ request, response }) => {
    const { origin, 'sec-fetch-site': site } = request.headers
    if (origin === undefined || site === 'same-origin' || isDone(origin)) return
    response.once('finish', () => {
      if (response.hasHeader('access-control-allow-origin') || isDone(origin)) return
      if (logged.size === MAX_LOGGED || !isOrigin(origin)) return
      logged.add(origin)
      const setting = `TRUSTED_ORIGINS=${[...trustedOrigins, origin].join(',')}`
      log.warn({ origin, setting }, UNKNOWN_ORIGIN)
    })
  }
}

const isOrigin = (text: string) =>
  text.length <= MAX_ORIGIN && /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text

/** Warns once about a proxy that the settings do not name. */
function createProxyHint(log: Logger): Hint {
  let hasWarned = false
  return ({ request }) => {
    if (hasWarned || request.headers['x-forwarded-for'] === undefined) return
    hasWarned = true
    log.warn(UNKNOWN_PROXY)
  }
}
