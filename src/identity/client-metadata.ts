import { z } from 'zod'

import { text } from '../../contract/base.ts'

/** An OAuth client: an app that requests access to the account of a person. All clients are public: they have no secret. */
export interface Client {
  id: string
  name: string
  redirectUris: string[]
  /** Whether the settings configure the app. Other apps choose their names and redirect URIs themselves. */
  trusted: boolean
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/**
 * Accepts https, loopback http and private schemes (RFC 8252). Checks the text before parsing it, because a URL parser
 * removes line breaks and an empty user, and reads a backslash as a slash.
 */
export function isRedirectUri(uri: string) {
  // Visible ASCII (RFC 3986): no spaces, no control, bidirectional or invisible characters.
  if (!/^[!-~]+$/.test(uri) || /[\\#]/.test(uri) || !URL.canParse(uri)) return false
  // User information can be mistaken for the host: https://bank.example@evil.example.
  if (/^[^:]+:(\/\/)?[^/?]*@/.test(uri)) return false
  const { protocol, hostname, host } = new URL(uri)
  // The host becomes part of a Content-Security-Policy, and must not terminate a directive.
  if (/[^\w.:[\]-]/.test(host)) return false
  if (/^[a-z][a-z\d+-]*(\.[a-z\d+-]+)+:$/.test(protocol)) return true
  if (!/^https?:\/\/[^/]/i.test(uri)) return false
  return protocol === 'https:' || LOOPBACK.includes(hostname)
}

const RedirectUri = text({ min: 1, max: 2000 }).refine(
  isRedirectUri,
  'Must be a URI with https, loopback http or a private scheme, in ASCII, without user information and fragment',
)

/**
 * Characters that are invisible or change the display of other text: control, format (zero-width, bidirectional),
 * ignorable and unassigned characters, line separators, the blank Braille pattern, and combining marks after the fourth.
 */
export const deceptiveCharacters =
  /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?<=\p{M}{4})\p{M}/gu

/** Normalizes to NFC, replaces sequences of spaces by one space, and trims. */
export const normalizeName = (name: string) =>
  name
    .normalize('NFC')
    .replace(/\p{Zs}+/gu, ' ')
    .trim()

export const UNNAMED = 'An app'

/** The name of an app, safe to display on the consent page. */
export const ClientName = text({ min: 1, max: 120 })
  .refine((name) => name.search(deceptiveCharacters) < 0, 'Contains an invisible character')
  .transform(normalizeName)
  .refine((name) => name !== '', 'Must not be blank')

/** The client metadata of a registration (RFC 7591). */
export const Registration = z.object({
  client_name: ClientName.default(UNNAMED),
  redirect_uris: z.array(RedirectUri).min(1).max(10),
  token_endpoint_auth_method: z.literal('none').default('none'),
})

/** Returns whether a redirect URI equals one of the app's URIs. Loopback http may use any port (RFC 8252). */
export function allowsRedirect({ redirectUris }: Client, uri: string) {
  return (
    isRedirectUri(uri) &&
    redirectUris.some(
      (allowed) => allowed === uri || withoutLoopbackPort(allowed) === withoutLoopbackPort(uri),
    )
  )
}

function withoutLoopbackPort(uri: string) {
  const url = new URL(uri)
  if (url.protocol !== 'http:' || !LOOPBACK.includes(url.hostname)) return uri
  url.port = ''
  return url.href
}

/** Finds an app in the setting OAUTH_CLIENTS, which has an entry `id=redirect-uri` for each redirect URI. */
export function findConfiguredClient(entries: string[], id: string): Client | undefined {
  const redirectUris = entries.map(splitEntry).flatMap(([name, uri]) => (name === id ? [uri] : []))
  return redirectUris.length > 0 ? { id, name: id, redirectUris, trusted: true } : undefined
}

/** Returns whether an entry of OAUTH_CLIENTS is valid. */
export const isConfiguredClient = (entry: string) => {
  const [id, uri] = splitEntry(entry)
  return ClientName.safeParse(id).data === id && isRedirectUri(uri)
}

const splitEntry = (entry: string): [string, string] => {
  const at = entry.indexOf('=')
  return at < 0 ? [entry, ''] : [entry.slice(0, at), entry.slice(at + 1)]
}
