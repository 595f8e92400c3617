import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** Lifetime of the cookie, in seconds. */
const LIFETIME = 12 * 3600

/** Headers of proxies: a request that came through a proxy may come from another machine. */
const PROXY_HEADER = /^(forwarded|x-forwarded-.*|x-real-ip|via)$/

/**
 * Decides who can open the console: the reader of the printed URL. `secret` is never stored: a reader of DATA_DIR cannot
 * open the console. The name of the cookie has the port, because all ports of a host share cookies.
 */
export function createAccess({ secret, port }: { secret: string; port: number }) {
  const origin = `http://127.0.0.1:${port}`
  const cookieName = `tallystick-console-${port}`
  const cookiePattern = new RegExp(`^${cookieName}=(\\d{1,12})\\.([\\w-]+)$`)
  let key = createKey()

  const sign = (text: string) =>
    createHmac('sha256', secret).update(`console ${port} ${text}`).digest('base64url')

  // Browsers send a cookie to all ports of a host, but only within the folder of the cookie. Other servers do not know the
  // name of the folder.
  const folder: `/${string}` = `/${sign('folder')}`

  return {
    origin,

    /** The folder of all pages and procedures. */
    folder,

    /** The URL that opens the console once. */
    address: () => `${origin}/?key=${key}`,

    /** Uses the key of such a URL. Returns the cookie, or undefined for a wrong or used key. */
    useKey(given: string) {
      if (!isEqual(given, key)) return undefined
      key = createKey()
      const expires = String(Math.floor(Date.now() / 1000) + LIFETIME)
      return `${cookieName}=${expires}.${sign(expires)}; Path=${folder}/; HttpOnly; SameSite=Strict; Max-Age=${LIFETIME}`
    },

    /** Returns whether a request has a valid cookie. */
    hasCookie({ headers: { cookie = '' } }: IncomingMessage) {
      return cookie.split(/; */).some((pair) => {
        const [, expires = '', signature = ''] = cookiePattern.exec(pair) ?? []
        return Number(expires) * 1000 > Date.now() && isEqual(signature, sign(expires))
      })
    },
  }
}

const createKey = () => randomBytes(32).toString('base64url')

function isEqual(given: string, expected: string) {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/**
 * Returns why a request is refused, or undefined. `host` is the only accepted value of `Host`: with other values, a page
 * of another origin could reach the console by its own name (DNS rebinding).
 */
export function refusalOf({ method = '', headers, url = '' }: IncomingMessage, host: string) {
  const proxyHeader = Object.keys(headers).find((name) => PROXY_HEADER.test(name))
  if (proxyHeader !== undefined) return `The console does not answer requests with the header ${proxyHeader}`
  if (headers.host !== host || !url.startsWith('/')) return `The console answers only at http://${host}`
  if (method !== 'GET' && method !== 'POST') return `The console does not answer ${method}`
  const isOwnPage = headers.origin === `http://${host}`
  if (method === 'POST' && !isOwnPage) return `Only pages of http://${host} can change something`
  if (headers.origin !== undefined && !isOwnPage) return 'Pages of other origins cannot read the console'
  return undefined
}
