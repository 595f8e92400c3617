import { createHash } from 'node:crypto'
import { z } from 'zod'

import { scopes } from '../../contract/base.ts'
import { find } from '../../db/oauth.ts'
import * as grants from '../../db/grants.ts'
import * as sessions from '../../db/sessions.ts'
import type { Caller, Services } from '../context.ts'
import { currentAuditSource } from '../telemetry/audit.ts'
import { createDocumentClients } from './client-documents.ts'
import { allowsRedirect, type Client, findConfiguredClient } from './client-metadata.ts'
import { findRegisteredClient } from './clients.ts'
import { codeKey, type Consent, createIssuer, Grant, refreshExpiry, refreshKey } from './tokens.ts'

/** An error response of OAuth, with an error code of RFC 6749 or RFC 8707. */
export class OAuthError extends Error {
  readonly code: string

  constructor(code: string, description: string) {
    super(description)
    this.code = code
  }
}

/** A valid authorization request of an app. */
export interface AuthorizationRequest {
  client: Client
  redirectUri: string
  state?: string
  scope: string
  resource: string
  challenge: string
}

const AuthorizationQuery = z.object({
  response_type: z.literal('code', 'Must be code'),
  code_challenge: z.string().regex(/^[\w-]{43}$/, 'Must be a SHA-256 hash in base64url, 43 characters'),
  code_challenge_method: z.literal('S256', 'Must be S256'),
})

/** A stored code or refresh token. Only a code has a redirect URI and a code challenge. */
const StoredCredential = z.object({
  /** The resource, not the client id: see `Consent` in src/identity/tokens.ts. */
  clientID: z.string(),
  subject: z.string(),
  properties: Grant,
  redirectURI: z.string().optional(),
  pkce: z.object({ challenge: z.string() }).optional(),
})

/** Lifetime of a new grant, in milliseconds. The redemption of its code extends the lifetime. */
const UNREDEEMED_TTL = 2 * 60_000

/**
 * Implements the rules of OAuth that OpenAuth leaves to the service: which apps, redirect URIs, scopes and resources
 * are valid, and which app may redeem a code or refresh token.
 */
export function createGrants(services: Services) {
  const { db, settings, identity } = services
  const { baseUrl } = settings
  const issuer = createIssuer(db)
  const findDocumentClient = createDocumentClients(services)
  const resources = [baseUrl, `${baseUrl}/`, `${baseUrl}/mcp`]

  async function findClient(id: string, network: string | undefined) {
    const configured = findConfiguredClient(settings.oauthClients, id)
    if (configured) return configured
    return id.startsWith('https://') ? findDocumentClient(id, network) : findRegisteredClient(db, id)
  }

  /**
   * Finds the app and checks its redirect URI. Returns undefined if the app is unknown, or if the URI does not belong
   * to the app. In this case, the browser must not be redirected, because the URI may belong to an attacker.
   */
  async function findRedirectTarget(
    { client_id = '', redirect_uri = '' }: Record<string, string>,
    network?: string,
  ) {
    const client = await findClient(client_id, network)
    return client && allowsRedirect(client, redirect_uri) ? { client, redirectUri: redirect_uri } : undefined
  }

  /** Validates all parameters of an authorization request except `client_id` and `redirect_uri`. Throws OAuthError. */
  function parseAuthorizationRequest(
    query: Record<string, string>,
  ): Omit<AuthorizationRequest, 'client' | 'redirectUri'> {
    const { success, data, error } = AuthorizationQuery.safeParse(query)
    if (!success) {
      const [{ path, message } = { path: [], message: '' }] = error.issues
      const code = path[0] === 'response_type' ? 'unsupported_response_type' : 'invalid_request'
      throw new OAuthError(code, `${path.join('.')}: ${message}`)
    }
    const scope = [...new Set((query.scope ?? 'read').split(' ').filter(Boolean))]
    if (scope.length === 0 || !scope.every((name) => (scopes as readonly string[]).includes(name)))
      throw new OAuthError('invalid_scope', `scope: Must be one or more of ${scopes.join(', ')}`)
    const { resource = baseUrl } = query
    if (!resources.includes(resource))
      throw new OAuthError(
        'invalid_target',
        'resource: Must be the URL of this service or of its MCP endpoint',
      )
    return {
      ...(query.state !== undefined && { state: query.state }),
      scope: scope.join(' '),
      resource: resource.replace(/\/$/, ''),
      challenge: data.code_challenge,
    }
  }

  /**
   * Stores the grant of a person as a session, and issues a code. Returns the URL that delivers the code to the app.
   */
  async function issueCode({ user }: Caller, request: AuthorizationRequest) {
    const { client, scope } = request
    const grant = {
      userId: user.id,
      clientId: client.id,
      scope,
      userAgent: client.name,
      expiresAt: new Date(Date.now() + UNREDEEMED_TTL),
    }
    const session = await grants.insert(db, grant, currentAuditSource())
    const body: Consent = {
      authorization: {
        response_type: 'code',
        client_id: request.resource,
        redirect_uri: request.redirectUri,
        state: request.state ?? '',
        pkce: { challenge: request.challenge, method: 'S256' },
      },
      grant: { userId: user.id, sessionId: session.id, clientId: client.id, scope },
    }
    const answer = await callIssuer('/account/consent', 'application/json', JSON.stringify(body))
    const location = new URL(answer.headers.get('location') ?? '')
    return authorizationResponse(request, { code: location.searchParams.get('code') ?? '' })
  }

  /**
   * Returns the redirect URI with the outcome (a code or an error), the `state` of the request, and the issuer (RFC
   * 9207).
   */
  function authorizationResponse(
    { redirectUri, state }: Pick<AuthorizationRequest, 'redirectUri' | 'state'>,
    outcome: Record<string, string>,
  ) {
    const url = new URL(redirectUri)
    const parameters = { ...outcome, ...(state !== undefined && { state }), iss: baseUrl }
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
    return url.href
  }

  const callIssuer = async (path: string, type: string, body: string) =>
    issuer.fetch(new Request(baseUrl + path, { method: 'POST', headers: { 'content-type': type }, body }))

  /** Redeems a code or refresh token. Returns new tokens, or throws OAuthError. */
  async function redeem(form: Record<string, string>) {
    const { grant_type = '', client_id = '', code = '', refresh_token = '', resource } = form
    const keys = { authorization_code: codeKey(code), refresh_token: refreshKey(refresh_token) }
    const key = new Map(Object.entries(keys)).get(grant_type)
    if (key === undefined)
      throw new OAuthError(
        'unsupported_grant_type',
        'grant_type: Must be authorization_code or refresh_token',
      )
    const stored = StoredCredential.safeParse((await find(db, key))?.value).data
    if (stored?.properties.clientId !== client_id)
      throw new OAuthError(
        'invalid_grant',
        'The code or refresh token is unknown, used, expired, or belongs to another app',
      )
    if (resource !== undefined && resource.replace(/\/$/, '') !== stored.clientID)
      throw new OAuthError('invalid_target', 'resource: The grant is for another resource')
    const body = new URLSearchParams({ ...form, client_id: stored.clientID }).toString()
    const answer = await callIssuer('/token', 'application/x-www-form-urlencoded', body)
    if (!answer.ok) {
      const { sessionId } = stored.properties
      if (isReplay(stored, form))
        await sessions.end(db, stored.subject, sessionId, currentAuditSource(), 'a code was redeemed twice')
      throw new OAuthError(
        'invalid_grant',
        'The code or refresh token is used or expired, or does not match the authorization request',
      )
    }
    const tokens = (await answer.json()) as Record<string, unknown>
    if (!(await grants.extend(db, stored.subject, stored.properties.sessionId, refreshExpiry())))
      throw new OAuthError('invalid_grant', 'The grant was revoked')
    return { ...tokens, token_type: 'Bearer', scope: stored.properties.scope }
  }

  /**
   * Revokes an access or refresh token (RFC 7009). Ends the grant of the token, so that all tokens of the grant become
   * invalid. Ignores unknown tokens and tokens of other apps.
   */
  async function revoke({ token = '', client_id = '' }: Record<string, string>) {
    const record = await find(db, refreshKey(token))
    const grant =
      StoredCredential.safeParse(record?.value).data?.properties ??
      (await identity.verifyToken(token, baseUrl))?.properties ??
      (await identity.verifyToken(token, `${baseUrl}/mcp`))?.properties
    if (grant?.clientId !== client_id) return
    const found = await grants.find(db, grant.sessionId)
    const source = { ...currentAuditSource(), actor: `app:${client_id}` }
    if (found) await sessions.end(db, found.user.id, found.session.id, source)
  }

  const fetchJwks = async () => (await issuer.fetch(new Request(`${baseUrl}/.well-known/jwks.json`))).text()

  return {
    findRedirectTarget,
    parseAuthorizationRequest,
    issueCode,
    authorizationResponse,
    redeem,
    revoke,
    fetchJwks,
  }
}

/**
 * Returns whether a refused token request repeats a code with the correct redirect URI and code verifier. Such a replay
 * ends the grant (OAuth 2.1, section 4.1.3). A request without the correct code verifier does not end the grant,
 * because an attacker with a code from a log or a browser history must not be able to end another person's grant.
 */
const isReplay = ({ redirectURI, pkce }: z.infer<typeof StoredCredential>, form: Record<string, string>) =>
  redirectURI === form.redirect_uri &&
  pkce?.challenge ===
    createHash('sha256')
      .update(form.code_verifier ?? '')
      .digest('base64url')

export type Grants = ReturnType<typeof createGrants>
