import { z } from 'zod'
import { text, tokenClientIds } from 'tallystick-contract/internal'

/**
 * An OAuth client: an app that requests access to the account of a person. All clients are public clients, which have
 * no secret.
 */
export interface Client {
  id: string
  name: string
  redirectUris: string[]
  /** Whether the app can use the device flow. Only apps that ask for the device flow in their metadata can. */
  usesDeviceFlow: boolean
  /** Whether OAUTH_CLIENTS contains the app. All other apps choose their names and redirect URIs themselves. */
  trusted: boolean
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/**
 * Private schemes without a dot that current apps use. The setting REDIRECT_SCHEMES adds more. A list of forbidden
 * schemes would not be safe, because systems give many schemes a meaning (`intent`, `ms-msdt`, `view-source`).
 */
export const APP_SCHEMES = [
  'antigravity',
  'claude',
  'cursor',
  'raycast',
  'vscode',
  'vscode-insiders',
  'vscodium',
  'warp',
  'windsurf',
  'zed',
]

/** Returns whether the setting REDIRECT_SCHEMES may add a scheme. Browsers and systems give the others a meaning. */
export const isAppScheme = (scheme: string) =>
  /^[a-z][a-z\d+-]*$/.test(scheme) &&
  !['http', 'https', 'ftp', 'ws', 'wss', 'file', 'about', 'blob', 'data', 'javascript'].includes(scheme)

/**
 * Returns whether a redirect URI uses https, http on a loopback host, a private scheme with a dot (RFC 8252), or a
 * scheme of the list before a host. Checks the text before parsing it, because the URL parser hides some characters: it
 * removes line breaks and empty user information, and converts a backslash to a slash.
 */
export function isRedirectUri(uri: string, schemes: readonly string[]) {
  // Allows only visible ASCII characters (RFC 3986). Rejects spaces, and control, bidirectional and invisible
  // characters.
  if (!/^[!-~]+$/.test(uri) || /[\\#]/.test(uri) || !URL.canParse(uri)) return false
  // Rejects user information, because a person can mistake it for the host: https://bank.example@evil.example.
  if (/^[^:]+:(\/\/)?[^/?]*@/.test(uri)) return false
  const { protocol, hostname, host } = new URL(uri)
  // The host is inserted into a Content-Security-Policy, so it must not contain characters that end a directive.
  if (/[^\w.:[\]-]/.test(host)) return false
  if (/^[a-z][a-z\d+-]*(\.[a-z\d+-]+)+:$/.test(protocol)) return true
  if (!/^[^:]+:\/\/[^/]/.test(uri)) return false
  if (schemes.includes(protocol.slice(0, -1))) return true
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.includes(hostname))
}

/** Joiners inside words of scripts that need joiners, such as Persian and Hindi. */
const WORD_JOINER = String.raw`(?<=[\p{L}\p{M}])(?<![\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}])[\u200C\u200D](?=[\p{L}\p{M}])`
/** Joiners and variation selectors inside emoji. */
const EMOJI_JOINER = String.raw`(?<=\p{Extended_Pictographic}\p{EMod}?)\uFE0F|(?<=\p{Extended_Pictographic}[\uFE0F\p{EMod}]?)\u200D(?=\p{Extended_Pictographic})`
/**
 * Characters that are invisible or change the display of other text: control characters, format characters (zero-width,
 * bidirectional), ignorable and unassigned characters, line separators, and the blank Braille pattern. In a sequence of
 * combining marks, every mark after the fourth.
 */
const DECEPTIVE = String.raw`[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?<=\p{M}{4})\p{M}`

const CHECKED_CHARACTERS = new RegExp(`(?<joiner>${WORD_JOINER}|${EMOJI_JOINER})|${DECEPTIVE}`, 'gu')

export const UNNAMED = 'An app'

/** Maximum length of a name with its deceptive characters, in UTF-16 units. */
const MAX_RAW_NAME = 1000

/** Returns the name of an app without characters that hide or reorder text, or UNNAMED if nothing else remains. */
export const toDisplayName = (name: string) =>
  name
    .replace(CHECKED_CHARACTERS, (_, joiner?: string) => joiner ?? '')
    .normalize('NFC')
    .replace(/\p{Zs}+/gu, ' ')
    .trim() || UNNAMED

/** The grant type of the device flow (RFC 8628, section 3.4). */
export const DEVICE_GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code'

/**
 * The metadata that an app registers. Removes redirect URIs that are not supported, unless none remains. All other
 * members are ignored: the response contains the registered metadata (RFC 7591, section 3.2.1).
 */
export const clientMetadata = (schemes: readonly string[]) =>
  z.object({
    client_name: z
      .string()
      // Before the name is cleaned, because cleaning a text of 1 MB takes half a second.
      .max(MAX_RAW_NAME)
      .nullish()
      .transform((name) => toDisplayName(name ?? ''))
      .pipe(text({ max: 120 })),
    redirect_uris: z
      .array(z.string())
      .max(10)
      .nullish()
      .transform((uris) => ({
        given: uris ?? [],
        supported: (uris ?? []).filter((uri) => uri.length <= 2000 && isRedirectUri(uri, schemes)),
      }))
      .refine(
        ({ given, supported }) => given.length === 0 || supported.length > 0,
        'Must contain a URI with https, loopback http or a private scheme, in ASCII, without user information and fragment',
      )
      .transform(({ supported }) => supported),
    grant_types: z.array(z.unknown()).catch([]),
  })

export type ClientMetadata = z.infer<ReturnType<typeof clientMetadata>>

export const usesDeviceFlow = ({ grant_types }: Pick<ClientMetadata, 'grant_types'>) =>
  grant_types.includes(DEVICE_GRANT_TYPE)

/** Returns whether an app can receive tokens. Only an app that uses the device flow needs no redirect URI. */
export const canReceiveTokens = (metadata: Pick<ClientMetadata, 'redirect_uris' | 'grant_types'>) =>
  metadata.redirect_uris.length > 0 || usesDeviceFlow(metadata)

export const MISSING_REDIRECT_URI = {
  path: ['redirect_uris'],
  message: 'Must contain a URI, unless grant_types contains the device flow',
}

/**
 * Returns whether a redirect URI equals one of the app's redirect URIs. For http on a loopback host, the port may
 * differ, because local apps listen on a temporary port (RFC 8252).
 */
export function allowsRedirect({ redirectUris }: Client, uri: string, schemes: readonly string[]) {
  return (
    isRedirectUri(uri, schemes) &&
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
  return redirectUris.length > 0
    ? { id, name: id, redirectUris, usesDeviceFlow: false, trusted: true }
    : undefined
}

/** Returns whether an entry of OAUTH_CLIENTS is valid. */
export const isConfiguredClient = (entry: string, schemes: readonly string[]) => {
  const [id, uri] = splitEntry(entry)
  const isReserved = Object.values(tokenClientIds).includes(id)
  return !isReserved && id.length <= 120 && toDisplayName(id) === id && isRedirectUri(uri, schemes)
}

const splitEntry = (entry: string): [string, string] => {
  const at = entry.indexOf('=')
  return at < 0 ? [entry, ''] : [entry.slice(0, at), entry.slice(at + 1)]
}
