import { z } from 'zod'

import type { Settings } from '../settings/settings.ts'
import type { Identity } from '../call/context.ts'
import type { Database } from '../db/connection/database.ts'
import { digestOf } from '../db/accounts/digest.ts'
import { find } from '../db/accounts/oauth.ts'
import * as grants from '../db/accounts/grants.ts'
import * as personalTokens from '../db/accounts/personal-tokens.ts'
import * as sessions from '../db/accounts/sessions.ts'
import { currentAuditSource } from './audit-context.ts'
import { mayBeKnown } from './clients.ts'
import { OAuthError } from './oauth-error.ts'
import { type Form, Parameter, parse } from './parameters.ts'
import { codeKey, Grant, type Issuer, refreshExpiry, refreshKey } from './tokens.ts'

/** A stored code or refresh token. Only a code has a redirect URI and a code challenge. */
const StoredCredential = z.object({
  /** The resource, not the client id: see `Consent` in engine/identity/tokens.ts. */
  clientID: z.string(),
  subject: z.string(),
  properties: Grant,
  redirectURI: z.string().optional(),
  pkce: z.object({ challenge: z.string() }).optional(),
})

const Code = z.object({
  code: Parameter,
  client_id: Parameter,
  redirect_uri: Parameter,
  code_verifier: Parameter,
})
const RefreshToken = z.object({ refresh_token: Parameter })

/** The grant types. Each checks the parameters, and returns the storage key of the code or refresh token. */
const grantTypes = new Map<string, (form: Form) => string>([
  ['authorization_code', (form) => codeKey(parse(Code, form).code)],
  ['refresh_token', (form) => refreshKey(parse(RefreshToken, form).refresh_token)],
])

/**
 * Returns the normalized form of the URL of a resource: scheme and host in lower case, without the default port and
 * without a slash at the end. Returns a text that is no URL unchanged.
 */
export const toResource = (url: string) => (URL.canParse(url) ? new URL(url).href.replace(/\/$/, '') : url)

/** Creates the functions that redeem and revoke codes and tokens. Both throw OAuthError. */
export function createTokenRequests(
  { db, identity, settings }: { db: Database; identity: Identity; settings: Settings },
  issuer: Issuer,
) {
  const { baseUrl } = settings

  async function requireClient(id: string | undefined) {
    if (id !== undefined && !(await mayBeKnown({ db, settings }, id)))
      throw new OAuthError('invalid_client', 'client_id: The app is unknown. Register the app again')
  }

  /**
   * Redeems a code or refresh token, and returns new tokens. A refresh needs no `client_id`, because the refresh token
   * identifies its app.
   */
  async function redeem(form: Form) {
    const { grant_type } = parse(z.object({ grant_type: Parameter }), form)
    const keyOf = grantTypes.get(grant_type)
    if (!keyOf)
      throw new OAuthError('unsupported_grant_type', 'grant_type: Must be a type that the metadata lists')
    const key = keyOf(form)
    const stored = StoredCredential.safeParse((await find(db, key))?.value).data
    const clientId = form.client_id ?? stored?.properties.clientId
    await requireClient(clientId)
    if (!stored || stored.properties.clientId !== clientId)
      throw new OAuthError(
        'invalid_grant',
        'The code or refresh token is unknown, used, expired, or belongs to another app',
      )
    if (form.resource !== undefined && toResource(form.resource) !== stored.clientID)
      throw new OAuthError('invalid_target', 'resource: The grant is for another resource')
    const answer = await issuer.fetch('/token', new URLSearchParams({ ...form, client_id: stored.clientID }))
    const { scope, sessionId } = stored.properties
    if (!answer.ok) {
      if (isReplay(stored, form))
        await sessions.endById(
          db,
          stored.subject,
          sessionId,
          currentAuditSource(),
          'a code was redeemed twice',
        )
      throw new OAuthError(
        'invalid_grant',
        'The code or refresh token is used or expired, or does not match the authorization request',
      )
    }
    const tokens = (await answer.json()) as Record<string, unknown>
    if (!(await grants.extend(db, stored.subject, sessionId, refreshExpiry())))
      throw new OAuthError('invalid_grant', 'The grant was revoked')
    return { ...tokens, token_type: 'Bearer', scope }
  }

  /**
   * Revokes an access or refresh token (RFC 7009). Ends the grant of the token, so that all tokens of the grant become
   * invalid. Ignores unknown tokens and tokens of other apps. Needs no `client_id`, because the token identifies its
   * app.
   */
  async function revoke(form: Form) {
    const { token } = parse(z.object({ token: Parameter }), form)
    await requireClient(form.client_id)
    const found = await findGrant(token)
    if (!found) return
    const { client_id = found.session.clientId } = form
    if (client_id !== found.session.clientId) return
    const source = { ...currentAuditSource(), actor: `app:${client_id ?? ''}` }
    await sessions.endById(db, found.user.id, found.session.id, source)
  }

  /** Finds the grant of a refresh token, an access token or a personal token. */
  async function findGrant(token: string) {
    if (personalTokens.isPersonalToken(token)) return personalTokens.find(db, token)
    const record = await find(db, refreshKey(token))
    const grant =
      StoredCredential.safeParse(record?.value).data?.properties ??
      (await identity.verifyToken(token, baseUrl))?.properties ??
      (await identity.verifyToken(token, `${baseUrl}/mcp`))?.properties
    return grant && grants.find(db, grant.sessionId)
  }

  return { redeem, revoke }
}

/**
 * Returns whether a refused token request repeats a code with the correct redirect URI and code verifier. Such a replay
 * ends the grant (OAuth 2.1, section 4.1.3). A request without the correct code verifier does not end the grant,
 * because an attacker with a code from a log or a browser history must not be able to end another person's grant.
 */
const isReplay = ({ redirectURI, pkce }: z.infer<typeof StoredCredential>, form: Form) =>
  redirectURI === form.redirect_uri && pkce?.challenge === digestOf(form.code_verifier ?? '')
