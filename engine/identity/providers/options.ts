import type { BetterAuthOptions, BetterAuthPlugin } from 'better-auth'
import { genericOAuth } from 'better-auth/plugins'

import { type OidcProvider, offeredProviders, type SignIn } from '../../app/sign-in.ts'

/** Creates the providers of better-auth. Only providers with all values of the registration are part of the result. */
export function providerOptions(signIn: SignIn): {
  social: NonNullable<BetterAuthOptions['socialProviders']>
  plugin: BetterAuthPlugin
} {
  const offered = new Set(offeredProviders(signIn).map(({ id }) => id))
  const { google, github, oidc = [] } = signIn
  return {
    social: {
      ...(google && offered.has('google') && { google: withSecrets(google) }),
      ...(github && offered.has('github') && { github: withSecrets(github) }),
    },
    plugin: createOidc(oidc.filter(({ providerId }) => offered.has(providerId))),
  }
}

/** Both values are present, because the provider is offered. */
const withSecrets = <Client extends { clientId: string | undefined; clientSecret: string | undefined }>({
  clientId = '',
  clientSecret = '',
  ...options
}: Client) => ({ ...options, clientId, clientSecret })

/**
 * Creates the plugin of better-auth for OpenID Connect, without its requests at the start: better-auth then fetches the metadata of a
 * provider at the first sign-in, in at most ten seconds, and again at the next sign-in if the provider did not answer. Needed until
 * better-auth limits the time of the requests at the start (1.7.25 waits for minutes).
 */
function createOidc(providers: readonly OidcProvider[]): BetterAuthPlugin {
  const config = providers.map(({ discoveryUrl = '', scopes, ...provider }) => ({
    ...withSecrets(provider),
    discoveryUrl,
    scopes: scopes ?? ['openid', 'email', 'profile'],
    pkce: true,
    requireIdTokenVerification: true,
  }))
  const pending = config.map((provider) => [provider.providerId, provider] as const)
  return {
    ...genericOAuth({ config }),
    init: () => ({ context: { genericOAuthPendingDiscovery: new Map(pending) } }),
  }
}
