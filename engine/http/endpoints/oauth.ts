import type { ORPCError } from '@orpc/client'
import { badRequest, type RateLimit, scopes } from 'tallystick-contract/internal'

import { FetchRefused } from '../../identity/client-documents.ts'
import {
  canReceiveTokens,
  clientMetadata,
  DEVICE_GRANT_TYPE,
  MISSING_REDIRECT_URI,
} from '../../identity/client-metadata.ts'
import { type Client } from '../../settings/oauth-clients.ts'
import { registerClient } from '../../identity/clients.ts'
import { networkOf } from '../../guard/networks.ts'
import { createGrants, type GrantParts } from '../../identity/grants.ts'
import { OAuthError } from '../../identity/oauth-error.ts'
import { rateLimits } from '../../app/rate-limits.ts'
import type { App } from '../../app/resource.ts'
import { withAuditContext } from '../../identity/audit-context.ts'
import { createConsentPages } from './consent.ts'
import { createDevicePages } from './device.ts'
import type { BuiltInEndpoint, BuiltInEndpoints } from './endpoints.ts'
import { type Call, MCP, type Protocol } from '../server/protocol.ts'
import { sendBody, setPageHeaders } from '../server/send.ts'

interface Result {
  status?: number
  body: object | string
}

/** Creates the endpoints of OAuth 2.1 for apps, command lines and AI agents. The library OpenAuth issues the tokens. */
export function createOAuthEndpoints({
  app,
  db,
  identity,
  settings,
  consumeRateLimit,
}: GrantParts & { app: App }): BuiltInEndpoints {
  const { baseUrl, redirectSchemes } = settings
  const registration = clientMetadata(redirectSchemes).refine(canReceiveTokens, MISSING_REDIRECT_URI)
  const grants = createGrants({ db, identity, settings, consumeRateLimit })
  const metadata = (body: object) => createEndpoint('GET', () => Promise.resolve({ body }))
  const form = (
    handle: (form: Record<string, string>, network: string | undefined) => Promise<object>,
    limit: RateLimit = rateLimits.tokens,
  ) =>
    createEndpoint(
      'POST',
      async ({ body, request, context }) => {
        refuseCredentials(request.headers.authorization, baseUrl)
        return { body: await handle(formOf(body), networkOf(context.ipAddress?.())) }
      },
      { limit },
    )
  const page = (protocol: Protocol): BuiltInEndpoint => ({
    methods: ['GET', 'POST'],
    setHeaders: setPageHeaders,
    answer: (call, response) => withAuditContext(call.context, async () => protocol(call, response)),
  })

  return {
    '/authorize': page(createConsentPages({ app, settings, consumeRateLimit }, grants)),
    '/device': page(createDevicePages({ app, settings, consumeRateLimit }, grants.devices)),
    '/device_authorization': form(
      (fields, network) => grants.devices.start(fields, network),
      rateLimits.deviceAuthorizations,
    ),
    '/.well-known/oauth-authorization-server': metadata(serverMetadata(baseUrl)),
    '/.well-known/oauth-protected-resource': metadata(resourceMetadata(baseUrl, baseUrl)),
    '/.well-known/oauth-protected-resource/mcp': metadata(resourceMetadata(baseUrl, baseUrl + MCP)),
    '/.well-known/jwks.json': createEndpoint('GET', async () => ({ body: await grants.fetchJwks() })),
    '/token': form((fields) => grants.redeem(fields)),
    '/revoke': form(async (fields) => {
      await grants.revoke(fields)
      return {}
    }),
    '/register': createEndpoint(
      'POST',
      async ({ body }) => {
        const { success, data, error } = registration.safeParse(body ?? {})
        if (!success) throw invalidRegistration(badRequest(error.issues))
        return { status: 201, body: registered(await registerClient(db, data)) }
      },
      { limit: rateLimits.registrations, malformedCode: 'invalid_client_metadata' },
    ),
  }
}

interface Options {
  limit?: RateLimit
  /** The error code for a body that cannot be parsed. */
  malformedCode?: string
}

/**
 * Creates an endpoint for clients of every origin, with the error format of RFC 6749. If `handle` returns a string as
 * the body, the string is already JSON.
 */
const createEndpoint = (
  method: 'GET' | 'POST',
  handle: (call: Call) => Promise<Result>,
  { limit, malformedCode = 'invalid_request' }: Options = {},
): BuiltInEndpoint => ({
  methods: [method],
  anyOrigin: true,
  ...(limit && { limit }),
  answer: async (call, response) => {
    try {
      const { malformed } = call.context
      if (malformed) throw new OAuthError(malformedCode, malformed.message)
      const { status = 200, body } = await withAuditContext(call.context, () => handle(call))
      return sendBody(response, status, typeof body === 'string' ? body : JSON.stringify(body))
    } catch (error) {
      // The service fetches the metadata documents of clients, and refuses to fetch more under load or beyond a limit.
      if (error instanceof FetchRefused) {
        for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value)
        const body = { error: 'temporarily_unavailable', error_description: error.message }
        return sendBody(response, error.status, JSON.stringify(body))
      }
      if (!(error instanceof OAuthError)) throw error
      if (error.challenge) response.setHeader('www-authenticate', error.challenge)
      const body = { error: error.code, error_description: error.message }
      return sendBody(response, error.challenge ? 401 : 400, JSON.stringify(body))
    }
  },
})

/** Returns the parameters with a value. A parameter without a value counts as absent (RFC 6749, section 3.2). */
const formOf = (body: Record<string, unknown> = {}) =>
  Object.fromEntries(
    Object.entries(body).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '',
    ),
  )

/**
 * Throws an error if an app authenticates in the `Authorization` header, because all apps are public clients. The
 * challenge names the scheme of the header (RFC 6749, section 5.2).
 */
function refuseCredentials(authorization: string | undefined, realm: string) {
  if (authorization === undefined) return
  const [scheme = 'Basic'] = /^[\w-]{1,32}(?=\s|$)/.exec(authorization) ?? []
  throw new OAuthError(
    'invalid_client',
    'Apps have no secret. Send client_id in the body, without an Authorization header',
    `${scheme} realm="${realm}"`,
  )
}

const invalidRegistration = (error: ORPCError<string, { issues: { path: string; message: string }[] }>) => {
  const [issue] = error.data.issues
  const code = issue?.path.startsWith('redirect_uris') ? 'invalid_redirect_uri' : 'invalid_client_metadata'
  return new OAuthError(code, `${issue?.path ?? ''}: ${issue?.message ?? ''}`)
}

const registered = ({ id, name, redirectUris, usesDeviceFlow }: Omit<Client, 'trusted'>) => ({
  client_id: id,
  client_id_issued_at: Math.floor(Date.now() / 1000),
  client_name: name,
  redirect_uris: redirectUris,
  token_endpoint_auth_method: 'none',
  grant_types: [
    ...(redirectUris.length > 0 ? ['authorization_code'] : []),
    'refresh_token',
    ...(usesDeviceFlow ? [DEVICE_GRANT_TYPE] : []),
  ],
  response_types: redirectUris.length > 0 ? ['code'] : [],
})

/** Authorization server metadata (RFC 8414). */
const serverMetadata = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  device_authorization_endpoint: `${issuer}/device_authorization`,
  token_endpoint: `${issuer}/token`,
  revocation_endpoint: `${issuer}/revoke`,
  registration_endpoint: `${issuer}/register`,
  jwks_uri: `${issuer}/.well-known/jwks.json`,
  scopes_supported: scopes,
  response_types_supported: ['code'],
  grant_types_supported: ['authorization_code', 'refresh_token', DEVICE_GRANT_TYPE],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['none'],
  revocation_endpoint_auth_methods_supported: ['none'],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
})

/** Protected resource metadata (RFC 9728). */
const resourceMetadata = (issuer: string, resource: string) => ({
  resource,
  authorization_servers: [issuer],
  scopes_supported: scopes,
  bearer_methods_supported: ['header'],
})
