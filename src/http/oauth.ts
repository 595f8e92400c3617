import { ORPCError } from '@orpc/client'
import type { ServerResponse } from 'node:http'

import { scopes } from '../../contract/base.ts'
import { badRequest } from '../../contract/errors.ts'
import type { Services } from '../context.ts'
import { withSource } from '../telemetry/audit.ts'
import { Registration } from '../identity/client-metadata.ts'
import { register } from '../identity/clients.ts'
import { createGrants, OAuthError } from '../identity/grants.ts'
import { networkOf } from '../guard/rate-limits.ts'
import { createAuthorize } from './authorize.ts'
import { answer, type Call, refuseBy, refuseMethod, type Transport } from './protocol.ts'

interface Endpoint {
  method: 'GET' | 'POST'
  /** Counted by the address that asks. */
  limit?: 'registrations' | 'tokens'
  answer: (call: Call) => Promise<{ status?: number; body: object | string }>
}

/** The token service at the public origin: OAuth 2.1 for apps, command lines and agents. OpenAuth issues, behind it. */
export function createOAuth(services: Services): Transport {
  const { baseUrl } = services.settings
  const grants = createGrants(services)
  const authorize = createAuthorize(services, grants)
  const get = (body: object): Endpoint => ({ method: 'GET', answer: () => Promise.resolve({ body }) })
  const post = (work: (form: Record<string, string>) => Promise<object>): Endpoint => ({
    method: 'POST',
    answer: async ({ body }) => ({ body: await work(formOf(body)) }),
  })

  const endpoints: Record<string, Endpoint> = {
    '/.well-known/oauth-authorization-server': get(metadata(baseUrl)),
    '/.well-known/oauth-protected-resource': get(resource(baseUrl, baseUrl)),
    '/.well-known/oauth-protected-resource/mcp': get(resource(baseUrl, `${baseUrl}/mcp`)),
    '/.well-known/jwks.json': { method: 'GET', answer: async () => ({ body: await grants.keys() }) },
    '/token': { ...post((form) => grants.redeem(form)), limit: 'tokens' },
    '/revoke': {
      ...post(async (form) => {
        await grants.revoke(form)
        return {}
      }),
      limit: 'tokens',
    },
    '/register': {
      method: 'POST',
      limit: 'registrations',
      answer: async ({ body }) => {
        const { success, data, error } = Registration.safeParse(body ?? {})
        if (!success) throw invalidRegistration(badRequest(error.issues))
        const { id, name, redirectUris } = await register(services.db, data)
        return { status: 201, body: registered(id, name, redirectUris) }
      },
    },
  }

  return async (call, response) => {
    const { pathname } = call.url()
    const endpoint = endpoints[pathname]
    if (!endpoint && pathname !== '/authorize') return false
    call.context.attributes.operation = pathname
    if (!endpoint) return withSource(call.context, () => authorize(call, response))
    // Any page may call these: none of them looks at cookies.
    response.setHeader('access-control-allow-origin', '*')
    if (call.method === 'OPTIONS') return allow(response, endpoint.method)
    if (call.method !== endpoint.method) return refuseMethod(response, [endpoint.method])
    const { limit } = endpoint
    const exceeded = limit && (await services.consumeRateLimit(limit, networkOf(call.context.address?.())))
    if (exceeded) return refuseBy(response, exceeded)
    try {
      if (call.context.malformed) throw unreadable(pathname, call.context.malformed.message)
      const { status = 200, body } = await withSource(call.context, () => endpoint.answer(call))
      return answer(response, status, typeof body === 'string' ? body : JSON.stringify(body))
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error
      return answer(response, 400, JSON.stringify({ error: error.code, error_description: error.message }))
    }
  }
}

function allow(response: ServerResponse, method: string) {
  response.setHeader('access-control-allow-methods', method)
  response.setHeader('access-control-allow-headers', 'content-type, authorization, mcp-protocol-version')
  response.writeHead(204).end()
  return true
}

const formOf = (body: Record<string, unknown> = {}) =>
  Object.fromEntries(Object.entries(body).map(([name, value]) => [name, String(value)]))

const unreadable = (pathname: string, message: string) =>
  new OAuthError(pathname === '/register' ? 'invalid_client_metadata' : 'invalid_request', message)

const invalidRegistration = (error: ORPCError<string, { issues: { path: string; message: string }[] }>) => {
  const [issue] = error.data.issues
  const code = issue?.path.startsWith('redirect_uris') ? 'invalid_redirect_uri' : 'invalid_client_metadata'
  return new OAuthError(code, `${issue?.path ?? ''}: ${issue?.message ?? ''}`)
}

const registered = (id: string, name: string, redirectUris: string[]) => ({
  client_id: id,
  client_id_issued_at: Math.floor(Date.now() / 1000),
  client_name: name,
  redirect_uris: redirectUris,
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
})

/** What a standard client learns of the service from its address alone (RFC 8414). */
const metadata = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  revocation_endpoint: `${issuer}/revoke`,
  registration_endpoint: `${issuer}/register`,
  jwks_uri: `${issuer}/.well-known/jwks.json`,
  scopes_supported: scopes,
  response_types_supported: ['code'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['none'],
  revocation_endpoint_auth_methods_supported: ['none'],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
})

/** What an app learns of whom to ask for a token (RFC 9728). */
const resource = (issuer: string, resource: string) => ({
  resource,
  authorization_servers: [issuer],
  scopes_supported: scopes,
  bearer_methods_supported: ['header'],
})
