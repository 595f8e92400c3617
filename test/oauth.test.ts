import * as openid from 'openid-client'
import { describe, expect, test } from 'vitest'

import { createRestClient } from '../contract/client.ts'
import { addressed, createFetch, signInOverHttp, somebody, startService } from './service.ts'

const service = await startService(await addressed())
const call = createFetch(service)
const redirectUri = 'http://127.0.0.1:9/callback'

/** An app that registers itself, knowing nothing but the address. */
async function discover() {
  return openid.dynamicClientRegistration(
    new URL(service.origin),
    { redirect_uris: [redirectUri], client_name: 'An app', token_endpoint_auth_method: 'none' },
    openid.None(),
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- loopback needs no TLS
    { execute: [openid.allowInsecureRequests], algorithm: 'oauth2' },
  )
}

/** Somebody lets the app in, as a browser would without scripts. */
async function consent(url: URL, cookie: string) {
  const response = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
    body: 'action=allow',
  })
  return new URL(response.headers.get('location') ?? '')
}

describe('a standard client', () => {
  test('discovers, asks, is let in, calls, refreshes and is revoked', async () => {
    const config = await discover()
    const { cookie } = await signInOverHttp(service, somebody())
    const pkceCodeVerifier = openid.randomPKCECodeVerifier()
    const state = openid.randomState()
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: 'read write',
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state,
    })
    const back = await consent(url, cookie)
    const tokens = await openid.authorizationCodeGrant(config, back, {
      pkceCodeVerifier,
      expectedState: state,
    })

    expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'read write' })
    const app = createRestClient(service.origin, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    })
    await app.tasks.create({ taskTitle: 'By token' })
    expect(await app.tasks.list()).toMatchObject({ taskCount: 1 })

    const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '')
    expect(refreshed.refresh_token).not.toBe(tokens.refresh_token)

    await openid.tokenRevocation(config, refreshed.refresh_token ?? '')
    await expect(app.tasks.list()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    expect((await call('GET', '/api/sessions', undefined, { cookie })).body).toMatchObject({
      sessionCount: 1,
    })
  })
})
