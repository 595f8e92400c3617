import type { Person } from '../db/accounts/users.ts'
import type { AppServices } from './hooks.ts'

/**
 * The service as a client of a provider: the values that the provider gives at the registration of the client. If one of the two
 * values is missing, the provider is not offered in development, and the start fails in production.
 */
interface ProviderClient {
  clientId: string | undefined
  clientSecret: string | undefined
  /** What the provider asks the person, even if the person is signed in there. */
  prompt?: 'select_account' | 'consent' | 'login'
}

/** A provider of OpenID Connect, with the option names of better-auth. */
export interface OidcProvider extends ProviderClient {
  /** Part of the redirect URI `/api/auth/callback/{providerId}`: lower-case letters, digits and hyphens. Must not change later. */
  providerId: string
  /** The name on the button: “Continue with …”. */
  name: string
  /** The address of the provider's metadata, which ends with `/.well-known/openid-configuration`. */
  discoveryUrl: string | undefined
  /** By default `openid`, `email` and `profile`. */
  scopes?: string[]
  /** How the service sends its secret: in the body, by default, or in the header `Authorization`. */
  authentication?: 'post' | 'basic'
}

/**
 * The providers by which people can sign in, beside the code by e-mail. The options are options of better-auth.
 *
 * @example
 * const { GITHUB_CLIENT_ID: clientId, GITHUB_CLIENT_SECRET: clientSecret } = process.env
 * export const signIn: SignIn = { github: { clientId, clientSecret } }
 */
export interface SignIn {
  /** `hd`: only accounts of this domain of Google Workspace. */
  google?: ProviderClient & { hd?: string }
  github?: Omit<ProviderClient, 'prompt'>
  oidc?: readonly OidcProvider[]
}

/** The names under which the audit trail records that a person connects or disconnects a provider. */
export const connectionActions = { connect: 'account.connect', disconnect: 'account.disconnect' } as const

/** A person with a new account. */
export type SignedUp = Person & { name: string }

/**
 * Part of the transaction that makes the account: an error undoes the account. `db` is this transaction.
 *
 * @example
 * export const onSignUp: SignUpHook = ({ id }, { db }) => insertProfile(db, id)
 */
export type SignUpHook = (
  person: SignedUp,
  services: Pick<AppServices, 'db' | 'log' | 'now'>,
) => Promise<void>

/** The name of a provider as people see it. `id` is the part of the redirect URI. */
export interface ProviderName {
  id: string
  name: string
}

const isComplete = ({ clientId, clientSecret }: ProviderClient) => Boolean(clientId && clientSecret)

/** Returns the id and the name of each declared provider, and whether its client is complete. */
export const declaredProviders = ({ google, github, oidc = [] }: SignIn) => [
  ...(google ? [{ id: 'google', name: 'Google', isComplete: isComplete(google) }] : []),
  ...(github ? [{ id: 'github', name: 'GitHub', isComplete: isComplete(github) }] : []),
  ...oidc.map((provider) => ({
    id: provider.providerId,
    name: provider.name,
    isComplete: isComplete(provider) && Boolean(provider.discoveryUrl),
  })),
]

/** Returns the providers that the service offers. */
export const offeredProviders = (signIn: SignIn = {}): ProviderName[] =>
  declaredProviders(signIn).flatMap(({ id, name, isComplete }) => (isComplete ? [{ id, name }] : []))
