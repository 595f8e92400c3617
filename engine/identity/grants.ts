import { ORPCError } from '@orpc/client'
import { z } from 'zod'
import { scopes } from 'tallystick-contract/internal'

import type { Settings } from '../settings/settings.ts'
import type { Database } from '../db/connection/database.ts'
import type { ConsumeRateLimit, Identity } from '../call/context.ts'
import * as grants from '../db/accounts/grants.ts'
import type { Caller } from '../call/caller.ts'
import { currentAuditSource } from './audit-context.ts'
import { createDocumentClients } from './client-documents.ts'
import { allowsRedirect, DEVICE_GRANT_TYPE } from './client-metadata.ts'
import { type Client, findConfiguredClient } from '../settings/oauth-clients.ts'
import { findRegisteredClient } from './clients.ts'
import { createDeviceFlow } from './device-flow.ts'
import { OAuthError } from './oauth-error.ts'
import type { Form } from './parameters.ts'
import { createTokenRequests, toResource } from './token-requests.ts'
import { createIssuer, fetchCode } from './tokens.ts'

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

/** Lifetime of a new grant, in milliseconds. The redemption of its code extends the lifetime. */
const UNREDEEMED_TTL = 2 * 60_000

export interface GrantParts {
  db: Database
  identity: Identity
  settings: Settings
  consumeRateLimit: ConsumeRateLimit
}

/**
 * Implements the rules of OAuth that OpenAuth leaves to the service: which apps, redirect URIs, scopes and resources
 * are valid, and which app may redeem a code or refresh token (engine/identity/token-requests.ts).
 */
export function createGrants({ db, identity, settings, consumeRateLimit }: GrantParts) {
  const { baseUrl } = settings
  const issuer = createIssuer(db, settings)
  const findDocumentClient = createDocumentClients({ settings, consumeRateLimit })

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
    return client && allowsRedirect(client, redirect_uri, settings.redirectSchemes)
      ? { client, redirectUri: redirect_uri }
      : undefined
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
    return {
      ...(query.state !== undefined && { state: query.state }),
      ...parseAccess(query),
      challenge: data.code_challenge,
    }
  }

  /** Returns the scope and the resource of a request. Throws OAuthError. */
  function parseAccess(query: Record<string, string>) {
    // Grants the known part of the requested scopes (RFC 6749, section 3.3). The response to the token request names it.
    const requested = new Set((query.scope ?? 'read').split(' '))
    const scope = scopes.filter((name) => requested.has(name))
    if (scope.length === 0)
      throw new OAuthError('invalid_scope', `scope: Must contain one or more of ${scopes.join(', ')}`)
    const resource = toResource(query.resource ?? baseUrl)
    if (resource !== baseUrl && resource !== `${baseUrl}/mcp`)
      throw new OAuthError(
        'invalid_target',
        'resource: Must be the URL of this service or of its MCP endpoint',
      )
    return { scope: scope.join(' '), resource }
  }

  /**
   * Stores the grant of a person as a session, and issues a code. Returns the URL that delivers the code to the app.
   * Throws UNAUTHORIZED if the session of the person has ended.
   */
  async function issueCode({ user, session: { id: sessionId } }: Caller, request: AuthorizationRequest) {
    const { client, scope } = request
    const grant = {
      userId: user.id,
      clientId: client.id,
      scope,
      userAgent: client.name,
      expiresAt: new Date(Date.now() + UNREDEEMED_TTL),
    }
    const session = await grants.give(db, sessionId, grant, currentAuditSource())
    if (!session) throw new ORPCError('UNAUTHORIZED', { message: 'The session has ended' })
    const code = await fetchCode(issuer, {
      authorization: {
        response_type: 'code',
        client_id: request.resource,
        redirect_uri: request.redirectUri,
        state: request.state ?? '',
        pkce: { challenge: request.challenge, method: 'S256' },
      },
      grant: { userId: user.id, sessionId: session.id, clientId: client.id, scope },
    })
    return authorizationResponse(request, { code })
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

  const fetchJwks = async () => (await issuer.fetch('/.well-known/jwks.json')).text()

  const tokenRequests = createTokenRequests({ db, identity, settings }, issuer)
  const devices = createDeviceFlow(
    { db, settings },
    {
      issuer,
      findClient,
      parseAccess,
      redeemCode: tokenRequests.redeem,
    },
  )

  return {
    findRedirectTarget,
    parseAuthorizationRequest,
    issueCode,
    authorizationResponse,
    ...tokenRequests,
    redeem: (form: Form) =>
      form.grant_type === DEVICE_GRANT_TYPE ? devices.redeem(form) : tokenRequests.redeem(form),
    devices,
    fetchJwks,
  }
}

export type Grants = ReturnType<typeof createGrants>
