import { z } from 'zod'
import { text } from 'tallystick-contract/internal'

import { type Client, isRedirectUri, LOOPBACK_HOSTS, toDisplayName } from '../settings/oauth-clients.ts'

/** Maximum length of a name with its deceptive characters, in UTF-16 units. */
const MAX_RAW_NAME = 1000

/** The grant type of the device flow (RFC 8628, section 3.4). */
export const DEVICE_GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code'

/**
 * The metadata that an app registers. Removes redirect URIs that are not supported, and refuses the metadata if no other is
 * left. All other members are ignored: the response contains the registered metadata (RFC 7591, section 3.2.1).
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
    // Only one grant type matters here, so a malformed list counts as a list without it.
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
  if (url.protocol !== 'http:' || !LOOPBACK_HOSTS.includes(url.hostname)) return uri
  url.port = ''
  return url.href
}
