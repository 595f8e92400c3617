import { z } from 'zod'

import { text } from '../../contract/base.ts'

/**
 * An OAuth client: an app that requests access to the account of a person. All clients are public clients, which have
 * no secret.
 */
export interface Client {
  id: string
  name: string
  redirectUris: string[]
  /** Whether OAUTH_CLIENTS contains the app. All other apps choose their names and redirect URIs themselves. */
  trusted: boolean
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/**
 * Returns whether a redirect URI uses https, http on a loopback host, or a private scheme (RFC 8252). Checks the text
 * before parsing it, because the URL parser hides some characters: it removes line breaks and empty user information,
 * and converts a backslash to a slash.
 */
export function isRedirectUri(uri: string) {
  // Allows only visible ASCII characters (RFC 3986). Rejects spaces, and control, bidirectional and invisible
  // characters.
  if (!/^[!-~]+$/.test(uri) || /[\\#]/.test(uri) || !URL.canParse(uri)) return false
  // Rejects user information, because a person can mistake it for the host: https://bank.example@evil.example.
  if (/^[^:]+:(\/\/)?[^/?]*@/.test(uri)) return false
  const { protocol, hostname, host } = new URL(uri)
  // The host is inserted into a Content-Security-Policy, so it must not contain characters that end a directive.
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
 * Characters that are invisible or change the display of other text: control characters, format characters (zero-width,
 * bidirectional), ignorable and unassigned characters, line separators, and the blank Braille pattern. In a sequence of
 * combining marks, also matches every mark after the fourth.
 */
export const deceptiveCharacters =
  /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?<=\p{M}{4})\p{M}/gu

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

/**
 * Returns whether a redirect URI equals one of the app's redirect URIs. For http on a loopback host, the port may
 * differ, because local apps listen on a temporary port (RFC 8252).
 */
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

/**
 * Finds an app in the setting OAUTH_CLIENTS, which contains one entry `id=redirect-uri` for each redirect URI of an
 * app.
 */
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
