import { createHash, randomBytes } from 'node:crypto'
import * as openid from 'openid-client'

import { createFetch, formType, signInOverHttp } from './http.ts'
import { newEmail, type Service } from './service.ts'

/** The response of the token endpoint. */
export interface Tokens {
  access_token: string
  refresh_token: string
  token_type: string
  expires_in: number
  scope: string
}

type Parameters = Record<string, string | undefined>

export const redirectUri = 'http://127.0.0.1:9/callback'

export const INVALID_GRANT = { status: 400, body: { error: 'invalid_grant' } }
export const UNAUTHORIZED = { status: 401, body: { code: 'UNAUTHORIZED' } }

export const bearer = ({ access_token }: Pick<Tokens, 'access_token'>) => ({
  authorization: `Bearer ${access_token}`,
})

/** Registers an app dynamically. Returns functions for the steps of the authorization code flow of this app. */
export async function registerApp(service: Pick<Service, 'origin'>, registration: object = {}) {
  const call = createFetch(service)
  const metadata = { client_name: 'An app', redirect_uris: [redirectUri], ...registration }
  const { body } = await call('POST', '/register', metadata)
  return appWithId(service, (body as { client_id: string }).client_id)
}

/**
 * The steps of the authorization code flow with PKCE for a known app, sent as a browser without scripts sends them.
 * A parameter with the value `undefined` is omitted.
 */
export function appWithId(service: Pick<Service, 'origin'>, id: string) {
  const call = createFetch(service)
  const verifier = randomBytes(32).toString('base64url')
  const encode = (fields: Parameters) =>
    new URLSearchParams(
      Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ).toString()

  const authorizationUrl = (parameters: Parameters = {}) =>
    `${service.origin}/authorize?${encode({
      client_id: id,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'read write',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      ...parameters,
    })}`
  const submitConsent = (fields: Parameters, headers: Record<string, string>, parameters?: Parameters) =>
    fetch(authorizationUrl(parameters), {
      method: 'POST',
      redirect: 'manual',
      headers: { ...formType, ...headers },
      body: encode(fields),
    })
  /** Presses “Allow” and returns the parameters of the redirect. */
  const allow = async (cookie: string, parameters?: Parameters) => {
    const { headers } = await submitConsent({ action: 'allow' }, { cookie }, parameters)
    return new URL(headers.get('location') ?? '').searchParams
  }
  const post = (path: string, fields: Parameters) =>
    call('POST', path, encode({ client_id: id, ...fields }), formType)
  /** Exchanges an authorization code for tokens. */
  const redeem = (code: string | null, fields: Parameters = {}) =>
    post('/token', {
      grant_type: 'authorization_code',
      code: code ?? '',
      redirect_uri: redirectUri,
      code_verifier: verifier,
      ...fields,
    })
  const refresh = (refresh_token: string, fields: Parameters = {}) =>
    post('/token', { grant_type: 'refresh_token', refresh_token, ...fields })
  /** Presses “Allow”, and exchanges the authorization code for tokens. */
  const obtainTokens = async (cookie: string, parameters?: Parameters) => {
    const { body } = await redeem((await allow(cookie, parameters)).get('code'))
    return body as Tokens
  }
  return { id, verifier, authorizationUrl, submitConsent, allow, post, redeem, refresh, obtainTokens }
}

/** Creates functions for the requests that most OAuth tests send. */
export function createOAuthCalls(service: Service) {
  const call = createFetch(service)
  return {
    call,
    get: (path: string, headers: Record<string, string> = {}) => call('GET', path, undefined, headers),
    listTasks: (tokens: Pick<Tokens, 'access_token'>) => call('GET', '/api/tasks', undefined, bearer(tokens)),
    /** Signs in a new account. Returns the cookie. */
    signIn: async () => (await signInOverHttp(service, newEmail())).cookie,
  }
}

/** Requests an authorization URL as a browser does, but does not follow redirects. */
export async function openPage(url: string, cookie = '') {
  const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
  return {
    status: response.status,
    location: response.headers.get('location'),
    html: await response.text(),
  }
}

/** Presses “Allow” on the page of an authorization URL from a client library. Returns the URL of the redirect. */
export async function allowAt(url: URL | string, cookie: string) {
  const response = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, ...formType },
    body: 'action=allow',
  })
  return new URL(response.headers.get('location') ?? '')
}

/** Registers an app with openid-client, which discovers every endpoint from the origin. */
export const discoverAndRegister = (origin: string, client_name: string) =>
  openid.dynamicClientRegistration(
    new URL(origin),
    { redirect_uris: [redirectUri], client_name, token_endpoint_auth_method: 'none' },
    openid.None(),
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- a loopback address needs no TLS
    { execute: [openid.allowInsecureRequests], algorithm: 'oauth2' },
  )
