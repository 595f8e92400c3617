import type { OAuthProvider } from 'better-auth'
import { MAX_EMAIL, MAX_NAME, text } from 'tallystick-contract/internal'
import { z } from 'zod'

import { normalizeAddress } from '../../values/mail-address.ts'
import { ProviderProblem } from './problems.ts'

/** Maximum time for all requests to a provider, in milliseconds. */
const TIMEOUT = 10_000

/** What the service keeps of a sign-in until the provider answers. */
interface Started {
  codeVerifier: string
  idTokenNonce?: string | undefined
}

interface Answer {
  code: string
  /** The issuer (RFC 9207). */
  iss?: string | undefined
}

/** What a provider says about a person. */
export interface Identity {
  /** The provider, and the id of the person at the provider. */
  key: { providerId: string; accountId: string }
  /** Verified by the provider. */
  email: string
  /** Empty if the provider has no name that an account can have. */
  name: string
}

/** The id of a person at a provider. OpenID Connect allows 255 characters. */
const AccountId = z
  .union([z.string(), z.number()])
  .transform(String)
  .pipe(text({ min: 1, max: 255 }))
/** Only ASCII before the change to lower case, which would turn other letters into letters of another address. */
const Email = z.string().transform(normalizeAddress).pipe(z.email().max(MAX_EMAIL).toLowerCase())
const Verified = z.object({ email: Email, emailVerified: z.literal(true) })
const Name = text({ max: MAX_NAME }).catch('')

/** Some providers send a text instead of a boolean. */
const Claims = z.object({
  sub: z.string(),
  email_verified: z
    .literal([true, 'true'])
    .transform(() => true)
    .catch(false),
})

/**
 * Redeems the code of a provider, and returns the person. The requests are those of better-auth, which runs them within a transaction
 * of its callback; this function runs without a transaction, because a slow provider would occupy the connection. The tokens of the
 * provider are forgotten. Throws `ProviderProblem`.
 */
export async function redeemCode(
  provider: OAuthProvider,
  { code, iss }: Answer,
  { codeVerifier, idTokenNonce }: Started,
  redirectURI: string,
): Promise<Identity> {
  if (iss !== undefined && provider.issuer !== undefined && iss !== provider.issuer)
    throw new ProviderProblem('PROVIDER_FAILED', 'the answer is of another issuer')
  const found = await withinTimeout(async () => {
    const tokens = await provider.validateAuthorizationCode({ code, codeVerifier, redirectURI })
    if (!tokens) return undefined
    // Without an ID token, nothing proves that the answer belongs to this sign-in.
    if (provider.requiresIdTokenNonce && !(tokens.idToken && idTokenNonce)) return undefined
    const info = await provider.getUserInfo({
      ...tokens,
      ...(idTokenNonce !== undefined && { expectedIdTokenNonce: idTokenNonce }),
    })
    if (!info) return undefined
    const { user, data } = info
    if (!provider.requiresIdTokenNonce)
      return { user, accountId: await provider.accountSubject({ tokens, profile: data }) }
    // The standard claims only: better-auth also reads claims such as `emailVerified`, which a person may be able to set.
    const { sub, email_verified: isVerified } = Claims.parse(data)
    return { user: { ...user, emailVerified: isVerified }, accountId: sub }
  })
  if (!found)
    throw new ProviderProblem(
      'PROVIDER_FAILED',
      'the provider refused the code, or its ID token is not valid',
    )
  const accountId = AccountId.safeParse(found.accountId)
  if (!accountId.success)
    throw new ProviderProblem('PROVIDER_FAILED', 'the provider sent no id of the person')
  const { success, data } = Verified.safeParse(found.user)
  if (!success)
    throw new ProviderProblem('UNVERIFIED_ADDRESS', 'the provider has no verified address of the person')
  return {
    key: { providerId: provider.id, accountId: accountId.data },
    email: data.email,
    name: Name.parse(found.user.name),
  }
}

/** The requests of better-auth have no limit of their own: an abandoned request ends when the connection does. */
async function withinTimeout<Result>(work: () => Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`no answer within ${TIMEOUT} ms`))
    }, TIMEOUT)
  })
  try {
    return await Promise.race([work(), timeout])
  } catch (error) {
    throw new ProviderProblem('PROVIDER_FAILED', describe(error))
  } finally {
    clearTimeout(timer)
  }
}

/** Omits messages of parsers, which may contain a part of the answer. An error of better-auth about a status is no `Error`. */
const describe = (error: unknown) =>
  error instanceof Error && !(error instanceof SyntaxError)
    ? [error.message, error.cause instanceof Error ? error.cause.message : ''].filter(Boolean).join(': ')
    : 'the provider refused a request, or its answer cannot be read'
