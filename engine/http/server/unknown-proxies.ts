import type { IncomingMessage } from 'node:http'
import type { Logger } from 'pino'

import type { Settings } from '../../settings.ts'

const MESSAGE =
  'a request has X-Forwarded-For, and TRUSTED_PROXIES is unset: all callers behind a proxy share the rate limits of its address. Set TRUSTED_PROXIES to the address of your proxy. Logged once'

/** Creates the function that warns once about a proxy that the settings do not name. Undefined if TRUSTED_PROXIES is set. */
export function createProxyWarning({ trustedProxies }: Settings, log: Logger) {
  if (trustedProxies.length > 0) return undefined
  let hasWarned = false
  return ({ headers }: IncomingMessage) => {
    if (hasWarned || headers['x-forwarded-for'] === undefined) return
    hasWarned = true
    log.warn(MESSAGE)
  }
}
