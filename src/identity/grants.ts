import { createHash } from 'node:crypto'
import { z } from 'zod'

import { scopes } from '../../contract/base.ts'
import { find } from '../../db/oauth.ts'
import * as sessions from '../../db/sessions.ts'
import type { Caller, Services } from '../context.ts'
import { currentSource } from '../telemetry/audit.ts'
import { createDocuments } from './client-documents.ts'
import { allowsRedirect, type Client, findConfigured } from './client-metadata.ts'
import { findRegistered } from './clients.ts'
import { codeKey, type Consent, createIssuer, Grant, refreshExpiry, refreshKey } from './tokens.ts'

export { FetchRefused } from './client-documents.ts'

/** A refusal in the words of RFC 6749. */
export class OAuthError extends Error {
  readonly code: string

  constructor(code: string, description: string) {
    super(description)
    this.code = code
  }
}

/** What an app asks a person for, checked. */
export interface Asked {
  client: Client
  redirectUri: string
  state?: string
  scope: string
  resource: string
  challenge: string
}

const Query = z.object({
  response_type: z.literal('code', 'Must be code'),
  code_challenge: z.string().regex(/^[\w-]{43}$/, 'Must be a SHA-256, in base64url'),
  code_challenge_method: z.literal('S256', 'Must be S256'),
})

/** A stored code or refresh token. Only a code has a redirect URI and a challenge. */
const Kept = z.object({
  clientID: z.string(),
  subject: z.string(),
  properties: Grant,
  redirectURI: z.string().optional(),
  pkce: z.object({ challenge: z.string() }).optional(),
})

/** How long a grant stands whose code nobody redeems, in milliseconds. */
const UNREDEEMED = 2 * 60_000

/** What OpenAuth leaves to its users, and what it leaves open: who may ask, for what, and who may redeem. */
export function createGrants(services: Services) {
  const { db, settings, identity } = services
  const { baseUrl } = settings
  const issuer = createIssuer(db)
  const readDocument = createDocuments(services)
  const resources = [baseUrl, `${baseUrl}/`, `${baseUrl}/mcp`]

  async function findClient(id: string, address: string | undefined) {
    const configured = findConfigured(settings.oauthClients, id)
    if (configured) return configured
    return id.startsWith('https://') ? readDocument(id, address) : findRegistered(db, id)
  }

  /** The app and where to answer it; `undefined` where neither can be trusted, and nobody must be sent anywhere. */
  async function findAsker({ client_id = '', redirect_uri = '' }: Record<string, string>, address?: string) {
    const client = await findClient(client_id, address)
    return client && allowsRedirect(client, redirect_uri) ? { client, redirectUri: redirect_uri } : undefined
  }

  function check(query: Record<string, string>): Omit<Asked, 'client' | 'redirectUri'> {
    const { success, data, error } = Query.safeParse(query)
    if (!success) {
      const [{ path, message } = { path: [], message: '' }] = error.issues
      const code = path[0] === 'response_type' ? 'unsupported_response_type' : 'invalid_request'
      throw new OAuthError(code, `${path.join('.')}: ${message}`)
    }
    const scope = [...new Set((query.scope ?? 'read').split(' ').filter(Boolean))]
    if (scope.length === 0 || !scope.every((name) => (scopes as readonly string[]).includes(name)))
      throw new OAuthError('invalid_scope', `The scopes are ${scopes.join(' and ')}`)
    const { resource = baseUrl } = query
    if (!resources.includes(resource))
      throw new OAuthError('invalid_target', 'There is no such resource here')
    return {
      ...(query.state !== undefined && { state: query.state }),
      scope: scope.join(' '),
      resource: resource.replace(/\/$/, ''),
      challenge: data.code_challenge,
    }
  }

  /** Makes the session that stands for the grant, and the code that stands for the session. */
  async function consent({ user }: Caller, asked: Asked) {
    const { client, scope } = asked
    const grant = {
      userId: user.id,
      clientId: client.id,
      scope,
      userAgent: client.name,
      expiresAt: new Date(Date.now() + UNREDEEMED),
    }
    const session = await sessions.insertGrant(db, grant, currentSource())
    const body: Consent = {
      authorization: {
        response_type: 'code',
        client_id: asked.resource,
        redirect_uri: asked.redirectUri,
        state: asked.state ?? '',
        pkce: { challenge: asked.challenge, method: 'S256' },
      },
      grant: { userId: user.id, sessionId: session.id, clientId: client.id, scope },
    }
    const answer = await send('/account/consent', 'application/json', JSON.stringify(body))
    const location = new URL(answer.headers.get('location') ?? '')
    return answerTo(asked, { code: location.searchParams.get('code') ?? '' })
  }

  /** Where the app hears the outcome, with its `state`, and who says so (RFC 9207). */
  function answerTo(
    { redirectUri, state }: Pick<Asked, 'redirectUri' | 'state'>,
    outcome: Record<string, string>,
  ) {
    const url = new URL(redirectUri)
    const parameters = { ...outcome, ...(state !== undefined && { state }), iss: baseUrl }
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
    return url.href
  }

  const send = async (path: string, type: string, body: string) =>
    issuer.fetch(new Request(baseUrl + path, { method: 'POST', headers: { 'content-type': type }, body }))

  /** Gives tokens for a code or a refresh token, to the app that it was made for. */
  async function redeem(form: Record<string, string>) {
    const { grant_type = '', client_id = '', code = '', refresh_token = '', resource } = form
    const kinds = { authorization_code: codeKey(code), refresh_token: refreshKey(refresh_token) }
    const key = new Map(Object.entries(kinds)).get(grant_type)
    if (key === undefined)
      throw new OAuthError('unsupported_grant_type', 'There are authorization_code and refresh_token')
    const kept = Kept.safeParse((await find(db, key))?.value).data
    if (kept?.properties.clientId !== client_id)
      throw new OAuthError('invalid_grant', 'It is used, expired, or made for another app')
    if (resource !== undefined && resource.replace(/\/$/, '') !== kept.clientID)
      throw new OAuthError('invalid_target', 'It was granted for another resource')
    const body = new URLSearchParams({ ...form, client_id: kept.clientID }).toString()
    const answer = await send('/token', 'application/x-www-form-urlencoded', body)
    if (!answer.ok) {
      const { sessionId } = kept.properties
      if (isReplay(kept, form))
        await sessions.end(db, kept.subject, sessionId, currentSource(), 'a code was redeemed twice')
      throw new OAuthError('invalid_grant', 'It is used, expired, or does not match its request')
    }
    const tokens = (await answer.json()) as Record<string, unknown>
    if (!(await sessions.prolong(db, kept.subject, kept.properties.sessionId, refreshExpiry())))
      throw new OAuthError('invalid_grant', 'It was taken back')
    return { ...tokens, token_type: 'Bearer', scope: kept.properties.scope }
  }

  /** Ends the grant that a token of the app's stands for (RFC 7009). What is no such token is as good as revoked. */
  async function revoke({ token = '', client_id = '' }: Record<string, string>) {
    const record = await find(db, refreshKey(token))
    const grant =
      Kept.safeParse(record?.value).data?.properties ??
      (await identity.verifyToken(token, baseUrl))?.properties ??
      (await identity.verifyToken(token, `${baseUrl}/mcp`))?.properties
    if (grant?.clientId !== client_id) return
    const found = await sessions.findGrant(db, grant.sessionId)
    const source = { ...currentSource(), actor: `app:${client_id}` }
    if (found) await sessions.end(db, found.user.id, found.session.id, source)
  }

  const keys = async () => (await issuer.fetch(new Request(`${baseUrl}/.well-known/jwks.json`))).text()

  return { findAsker, check, consent, answerTo, redeem, revoke, keys }
}

/**
 * Whether a refused request would have been valid as the first one: it has the code, its redirect URI and its verifier.
 * Such a second request ends the grant (OAuth 2.1, section 4.1.3). The code alone, as an attacker may find it in a log
 * or a browser history, does not.
 */
const isReplay = ({ redirectURI, pkce }: z.infer<typeof Kept>, form: Record<string, string>) =>
  redirectURI === form.redirect_uri &&
  pkce?.challenge ===
    createHash('sha256')
      .update(form.code_verifier ?? '')
      .digest('base64url')

export type Grants = ReturnType<typeof createGrants>
