import { z } from 'zod'

import { text } from '../../contract/base.ts'

/** An app that asks people to let it in, and where it may be answered. Public: it has no secret of its own. */
export interface Client {
  id: string
  name: string
  redirectUris: string[]
  /** Named by the settings. Every other app chose its name and its redirect URIs itself. */
  trusted: boolean
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/**
 * Where an app may be answered: https, loopback http, or a private scheme (RFC 8252). Checks the text before it is
 * parsed: a parser drops line breaks and an empty user, and takes a backslash for a slash.
 */
export function isRedirectUri(uri: string) {
  // Visible ASCII (RFC 3986): no spaces, no control, bidirectional or invisible characters.
  if (!/^[!-~]+$/.test(uri) || /[\\#]/.test(uri) || !URL.canParse(uri)) return false
  // A user before the host looks like a host: https://bank.example@evil.example.
  if (/^[^:]+:(\/\/)?[^/?]*@/.test(uri)) return false
  const { protocol, hostname, host } = new URL(uri)
  // The host goes into a policy, and must not end it.
  if (/[^\w.:[\]-]/.test(host)) return false
  if (/^[a-z][a-z\d+-]*(\.[a-z\d+-]+)+:$/.test(protocol)) return true
  if (!/^https?:\/\/[^/]/i.test(uri)) return false
  return protocol === 'https:' || LOOPBACK.includes(hostname)
}

const RedirectUri = text({ min: 1, max: 2000 }).refine(
  isRedirectUri,
  'Must be https, loopback http, or a private scheme, in ASCII, without a user and a fragment',
)

/**
 * Characters that a person cannot see, or that change how other text is displayed: control, format (zero-width,
 * bidirectional), ignorable and unassigned ones, line separators, the blank Braille pattern, and stacked marks.
 */
export const deceptive = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?<=\p{M}{4})\p{M}/gu

export const tidy = (name: string) =>
  name
    .normalize('NFC')
    .replace(/\p{Zs}+/gu, ' ')
    .trim()

export const UNNAMED = 'An app'

/** The name of an app, as it may be displayed. */
export const ClientName = text({ min: 1, max: 120 })
  .refine((name) => name.search(deceptive) < 0, 'Contains a character that cannot be seen')
  .transform(tidy)
  .refine((name) => name !== '', 'Must not be blank')

/** What an app says of itself (RFC 7591). */
export const Registration = z.object({
  client_name: ClientName.default(UNNAMED),
  redirect_uris: z.array(RedirectUri).min(1).max(10),
  token_endpoint_auth_method: z.literal('none').default('none'),
})

/** Exactly as registered; on this machine any port will do. */
export function allowsRedirect({ redirectUris }: Client, uri: string) {
  return (
    isRedirectUri(uri) &&
    redirectUris.some((known) => known === uri || withoutPort(known) === withoutPort(uri))
  )
}

function withoutPort(uri: string) {
  const url = new URL(uri)
  if (url.protocol !== 'http:' || !LOOPBACK.includes(url.hostname)) return uri
  url.port = ''
  return url.href
}

/** An app that the setting OAUTH_CLIENTS names, as `id=redirect-uri`, once for each redirect URI. */
export function findConfigured(entries: string[], id: string): Client | undefined {
  const redirectUris = entries.map(splitEntry).flatMap(([name, uri]) => (name === id ? [uri] : []))
  return redirectUris.length > 0 ? { id, name: id, redirectUris, trusted: true } : undefined
}

export const isConfiguredClient = (entry: string) => {
  const [id, uri] = splitEntry(entry)
  return ClientName.safeParse(id).data === id && isRedirectUri(uri)
}

const splitEntry = (entry: string): [string, string] => {
  const at = entry.indexOf('=')
  return at < 0 ? [entry, ''] : [entry.slice(0, at), entry.slice(at + 1)]
}
