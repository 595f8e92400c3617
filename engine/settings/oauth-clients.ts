import { tokenClientIds } from 'tallystick-contract/internal'

/**
 * An OAuth client: an app that requests access to the account of a person. All clients are public clients, which have no secret.
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

export const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '[::1]']

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
  // Allows only visible ASCII characters (RFC 3986). Rejects spaces, and control, bidirectional and invisible characters.
  if (!/^[!-~]+$/.test(uri) || /[\\#]/.test(uri) || !URL.canParse(uri)) return false
  // Rejects user information, because a person can mistake it for the host: https://bank.example@evil.example.
  if (/^[^:]+:(\/\/)?[^/?]*@/.test(uri)) return false
  const { protocol, hostname, host } = new URL(uri)
  // The host is inserted into a Content-Security-Policy, so it must not contain characters that end a directive.
  if (/[^\w.:[\]-]/.test(host)) return false
  if (/^[a-z][a-z\d+-]*(\.[a-z\d+-]+)+:$/.test(protocol)) return true
  if (!/^[^:]+:\/\/[^/]/.test(uri)) return false
  if (schemes.includes(protocol.slice(0, -1))) return true
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK_HOSTS.includes(hostname))
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

/** Returns the name of an app without characters that hide or reorder text, or UNNAMED if nothing else remains. */
export const toDisplayName = (name: string) =>
  name
    .replace(CHECKED_CHARACTERS, (_, joiner?: string) => joiner ?? '')
    .normalize('NFC')
    .replace(/\p{Zs}+/gu, ' ')
    .trim() || UNNAMED

/** Finds an app in the setting OAUTH_CLIENTS, which contains one entry `id=redirect-uri` for each redirect URI of an app. */
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
