import { OAuth2Server } from 'oauth2-mock-server'
import { createTallystick } from 'tallystick-dev/testing'
import { afterAll, expect, test, vi } from 'vitest'

import { profiles } from '../db/profiles.ts'

const provider = new OAuth2Server()
await provider.issuer.keys.generate('RS256')
await provider.start(0, '127.0.0.1')
provider.issuer.url = `http://127.0.0.1:${provider.address().port}`
let person = {}
provider.service.on('beforeTokenSigning', ({ payload }: { payload: object }) => {
  Object.assign(payload, person)
})

vi.stubEnv('ACME_DISCOVERY_URL', `${provider.issuer.url}/.well-known/openid-configuration`)
vi.stubEnv('ACME_CLIENT_ID', 'help-desk')
vi.stubEnv('ACME_CLIENT_SECRET', 'secret of the help desk')
// Another test of this process may have imported the application without the variables.
vi.resetModules()
const { app } = await import('../src/app.ts')
const service = await createTallystick(app)
const origin = await service.listen()
afterAll(async () => {
  await service.close()
  await provider.stop()
  vi.unstubAllEnvs()
  vi.resetModules()
})

const cookieOf = (response: Response) =>
  response.headers
    .getSetCookie()
    .map((cookie) => cookie.replace(/;.*/s, ''))
    .join('; ')
const locationOf = (response: Response) => response.headers.get('location') ?? ''

/** Signs in as a browser does. Returns the last address, and the cookie of the session. */
async function signIn(claims: object) {
  person = claims
  const begun = await fetch(`${origin}/api/auth/sign-in/social`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ provider: 'acme', callbackURL: '/projects' }),
  })
  const { url } = (await begun.json()) as { url: string }
  const redirect = 'manual'
  const { pathname, search } = new URL(locationOf(await fetch(url, { redirect })))
  const ended = await fetch(origin + pathname + search, { redirect, headers: { cookie: cookieOf(begun) } })
  return { location: locationOf(ended), cookie: cookieOf(ended) }
}

test('a person of Acme signs in, and has a profile', async () => {
  const { location, cookie } = await signIn({
    sub: '1',
    email: 'ada@acme.example',
    email_verified: true,
    name: 'Ada',
  })

  expect(location).toBe('/projects')
  const { id, name } = await service.client({ cookie }).account.get()
  expect(name).toBe('Ada')
  expect(await service.context().db.select().from(profiles)).toEqual([
    { userId: id, company: 'acme.example' },
  ])
})

test('an address that Acme has not verified is refused', async () => {
  const { location } = await signIn({ sub: '2', email: 'eve@acme.example', email_verified: false })

  expect(location).toBe('/projects?error=UNVERIFIED_ADDRESS')
})
