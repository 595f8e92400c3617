import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import open from 'open'
import * as openid from 'openid-client'

import { type Credential, updateCredentials } from './credentials.ts'
import { defaultOrigin } from './origin.ts'

/** Time limit of a sign-in in the browser, in milliseconds. */
const SIGN_IN_TIMEOUT = 5 * 60_000

/** An access token is renewed if it expires within this time, in milliseconds. */
const RENEWAL_MARGIN = 30_000

/**
 * Signs in through the browser. The consent page shows `clientName`. A temporary HTTP server on the loopback interface
 * receives the authorization code (RFC 8252).
 */
export async function login(origin: string, scope: string, clientName: string) {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const redirectUri = callbackUrl(server)
    const config = await register(origin, clientName, { redirect_uris: [redirectUri] })
    const pkceCodeVerifier = openid.randomPKCECodeVerifier()
    const expectedState = openid.randomState()
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope,
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
    })
    process.stderr.write(`Sign in at ${url.href}\n`)
    if (process.env.BROWSER !== 'none') await open(url.href).catch(() => undefined)
    const callback = await receiveCallback(server, redirectUri, origin)
    const tokens = await openid.authorizationCodeGrant(config, callback, { pkceCodeVerifier, expectedState })
    await store(origin, config, tokens)
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

/** Signs in without a browser on this machine (RFC 8628): the person enters the printed code on another device. */
export async function loginFromDevice(origin: string, scope: string, clientName: string) {
  const config = await register(origin, clientName, { grant_types: [DEVICE_GRANT_TYPE, 'refresh_token'] })
  const codes = await openid.initiateDeviceAuthorization(config, { scope })
  process.stderr.write(`Open ${codes.verification_uri} in a browser, and enter the code ${codes.user_code}\n`)
  await store(origin, config, await openid.pollDeviceAuthorizationGrant(config, codes))
}

const DEVICE_GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code'

/** Registers this command line as a public OAuth client, without a secret. */
const register = (origin: string, clientName: string, metadata: Partial<openid.ClientMetadata>) =>
  openid.dynamicClientRegistration(
    new URL(origin),
    { client_name: clientName, token_endpoint_auth_method: 'none', ...metadata },
    openid.None(),
    discoveryOptions(origin),
  )

async function store(origin: string, config: openid.Configuration, tokens: openid.TokenEndpointResponse) {
  const credential = toCredential(config.clientMetadata().client_id, tokens)
  await updateCredentials((credentials) => Promise.resolve((credentials[origin] = credential)))
}

/** The command that signs in to a service. With npx, because projects have the command in their packages. */
const loginCommand = (origin: string) =>
  `npx tallystick login${origin === defaultOrigin() ? '' : ` --at ${origin}`}`

class NotSignedIn extends Error {
  override readonly name = 'NotSignedIn'
}

/** The error of a call that needs a sign-in. */
export const notSignedIn = (origin: string) =>
  new NotSignedIn(`Not signed in to ${origin}. Run: ${loginCommand(origin)}`)

/** Returns a valid access token. Throws NotSignedIn if none is stored, or if the service refuses a new one. */
export async function getAccessToken(origin: string) {
  const token = await findAccessToken(origin)
  if (token === undefined) throw notSignedIn(origin)
  return token
}

/**
 * Returns a valid access token, or undefined if none is stored. If the stored token is about to expire, replaces the
 * stored token with a new token. Throws NotSignedIn if the service refuses, for example after a revocation.
 */
export const findAccessToken = (origin: string) =>
  updateCredentials(async (credentials) => {
    const credential = credentials[origin]
    if (!credential) return undefined
    if (credential.expiresAt - RENEWAL_MARGIN > Date.now()) return credential.accessToken
    const tokens = await openid
      .refreshTokenGrant(await discover(origin, credential), credential.refreshToken)
      .catch((error: unknown) => {
        const isRefused = error instanceof openid.ResponseBodyError && error.status < 500
        throw isRefused ? notSignedIn(origin) : error
      })
    credentials[origin] = toCredential(credential.clientId, tokens, credential)
    return tokens.access_token
  })

/** Revokes the grant at the service, and deletes the stored tokens. */
export const logout = (origin: string) =>
  updateCredentials(async (credentials) => {
    const credential = credentials[origin]
    if (!credential) return
    await openid.tokenRevocation(await discover(origin, credential), credential.refreshToken)
    // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- the keys of credentials are origins
    delete credentials[origin]
  })

function callbackUrl(server: Server) {
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/callback`
}

/** Waits for the redirect of the browser. Returns the redirect URL, which contains the authorization code. */
async function receiveCallback(server: Server, redirectUri: string, origin: string) {
  const signal = AbortSignal.timeout(SIGN_IN_TIMEOUT)
  return new Promise<URL>((resolve, reject) => {
    signal.addEventListener('abort', () => {
      reject(new Error(`No sign-in within 5 minutes. Try again: ${loginCommand(origin)}`))
    })
    server.on('request', (request, response) => {
      const url = new URL(request.url ?? '/', redirectUri)
      if (url.pathname !== '/callback') return response.writeHead(404).end()
      response
        .setHeader('connection', 'close')
        .end('You can close this window and return to the command line.\n')
      resolve(url)
    })
  })
}

/**
 * Converts a token response to a credential. If the response contains no refresh token, the previous refresh token
 * stays valid, so the credential keeps this token.
 */
const toCredential = (
  clientId: string,
  tokens: openid.TokenEndpointResponse,
  previous?: Credential,
): Credential => ({
  clientId,
  accessToken: tokens.access_token,
  refreshToken: tokens.refresh_token ?? previous?.refreshToken ?? '',
  expiresAt: Date.now() + (tokens.expires_in ?? 0) * 1000,
})

const discover = (origin: string, { clientId }: Credential) =>
  openid.discovery(new URL(origin), clientId, undefined, openid.None(), discoveryOptions(origin))

/** Allows plain HTTP if the URL of the service uses it, for example http://localhost:3000. */
const discoveryOptions = (origin: string) => {
  const isPlainHttp = new URL(origin).protocol === 'http:'
  // `oauth2` reads /.well-known/oauth-authorization-server: the service publishes no configuration of OpenID Connect.
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- only if the user entered an origin with plain HTTP
  return { execute: isPlainHttp ? [openid.allowInsecureRequests] : [], algorithm: 'oauth2' as const }
}
