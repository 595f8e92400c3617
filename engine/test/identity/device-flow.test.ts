import { eq, sql } from 'drizzle-orm'
import * as openid from 'openid-client'
import { describe, expect, test } from 'vitest'

import { deviceCodes } from '../../db/accounts/device-codes.ts'
import { removeExpired } from '../../db/housekeeping.ts'
import { codeSentTo, createFetch, formType, signInOverHttp } from '../fixtures/http.ts'
import { type DeviceCodes, GRANT_TYPE, registerDeviceApp } from '../fixtures/device-app.ts'
import { rpc } from '../fixtures/mcp-agent.ts'
import { bearer, createOAuthCalls, INVALID_GRANT, type Tokens } from '../fixtures/oauth-app.ts'
import { newEmail, settingsWithAddress, startService } from '../fixtures/service.ts'

const service = await startService(await settingsWithAddress())
const { call, listShelves, signIn } = createOAuthCalls(service)
const { db } = service.services

const encode = (fields: Record<string, string>) => new URLSearchParams(fields).toString()

const client_id = await registerDeviceApp(service)

const start = (fields: Record<string, string> = {}, headers: Record<string, string> = {}) =>
  call('POST', '/device_authorization', encode({ client_id, scope: 'read write', ...fields }), {
    ...formType,
    ...headers,
  })
const started = async (fields?: Record<string, string>) => (await start(fields)).body as DeviceCodes
const poll = ({ device_code }: Pick<DeviceCodes, 'device_code'>, fields: Record<string, string> = {}) =>
  call('POST', '/token', encode({ grant_type: GRANT_TYPE, device_code, client_id, ...fields }), formType)
const submit = async (cookie: string, fields: Record<string, string>, headers: object = {}) => {
  const response = await fetch(`${service.origin}/device`, {
    method: 'POST',
    redirect: 'manual',
    headers: { ...formType, cookie, ...headers },
    body: encode(fields),
  })
  return { status: response.status, html: (await response.text()).replaceAll(/<\/?bdi>/g, '') }
}
const allow = (cookie: string, { user_code }: Pick<DeviceCodes, 'user_code'>) =>
  submit(cookie, { action: 'allow', user_code })

/** Sets the time of the last poll into the past, so that the next poll is not too early. */
const waitForInterval = () => db.update(deviceCodes).set({ polledAt: sql`now() - interval '1 minute'` })
const expire = () => db.update(deviceCodes).set({ expiresAt: sql`now() - interval '1 second'` })

describe('an app on a device without a browser', () => {
  test('receives codes, and tokens after the person has allowed the access', async () => {
    const cookie = await signIn()
    const codes = await started()
    expect(codes).toEqual({
      device_code: expect.stringMatching(/^[\w-]{43}$/) as string,
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/) as string,
      verification_uri: `${service.origin}/device`,
      verification_uri_complete: `${service.origin}/device?user_code=${codes.user_code}`,
      expires_in: 600,
      interval: 5,
    })
    expect(await poll(codes)).toMatchObject({ status: 400, body: { error: 'authorization_pending' } })

    const entered = codes.user_code.toLowerCase().replace('-', ' ')
    const question = await submit(cookie, { action: 'continue', user_code: ` ${entered} ` })
    expect(question.html).toContain('Authorize Television?')
    expect(question.html).toContain(codes.user_code)
    expect(question.html).toContain('The app chose its name itself.')
    await waitForInterval()
    expect(await poll(codes)).toMatchObject({ body: { error: 'authorization_pending' } })
    const done = await allow(cookie, codes)
    expect(done.html).toContain('Television has access now.')

    await waitForInterval()
    const { status, body } = await poll(codes)
    const tokens = body as Tokens
    expect(status).toBe(200)
    expect(tokens).toMatchObject({ token_type: 'Bearer', scope: 'read write' })
    expect((await listShelves(tokens)).status).toBe(200)
    const fields = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token, client_id }
    expect((await call('POST', '/token', encode(fields), formType)).status).toBe(200)
    const { apps } = await service.client({ cookie }).apps.list()
    expect(apps).toMatchObject([{ clientId: client_id, name: 'Television', scopes: ['read', 'write'] }])
  })

  test('receives the tokens only once', async () => {
    const codes = await started()
    await allow(await signIn(), codes)

    const answers = await Promise.all([poll(codes), poll(codes), poll(codes)])

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await poll(codes)).toMatchObject(INVALID_GRANT)
  })

  test('receives the requested part of the scopes, for the requested resource', async () => {
    const codes = await started({ scope: 'openid read', resource: `${service.origin}/mcp/` })
    await allow(await signIn(), codes)

    const tokens = (await poll(codes)).body as Tokens

    expect(tokens.scope).toBe('read')
    expect((await listShelves(tokens)).status).toBe(401)
    expect((await call('POST', '/mcp', rpc('tools/list'), bearer(tokens))).status).toBe(200)
  })

  test('must poll more slowly after each early poll, by five seconds more', async () => {
    const codes = await started()
    const hasPolled = (seconds: number) =>
      db.update(deviceCodes).set({ polledAt: sql`now() - make_interval(secs => ${seconds})` })
    const answers = []
    for (const seconds of [5, 1, 9.5, 6, 11, 19.5]) {
      await hasPolled(seconds)
      answers.push(((await poll(codes)).body as { error: string }).error)
    }

    const [pending, early] = ['authorization_pending', 'slow_down']
    expect(answers).toEqual([pending, early, pending, early, early, pending])
  })

  test('is refused after the person has denied the access', async () => {
    const cookie = await signIn()
    const codes = await started()

    const { html } = await submit(cookie, { action: 'deny', user_code: codes.user_code })

    expect(html).toContain('Television has no access.')
    expect(await poll(codes)).toMatchObject({ status: 400, body: { error: 'access_denied' } })
    expect((await allow(cookie, codes)).html).toContain('This code is not correct')
    expect((await service.client({ cookie }).apps.list()).apps).toEqual([])
  })

  test('is refused after the codes have expired', async () => {
    const cookie = await signIn()
    const codes = await started()
    await expire()

    expect(await poll(codes)).toMatchObject({ status: 400, body: { error: 'expired_token' } })
    expect((await allow(cookie, codes)).html).toContain('This code is not correct')

    await removeExpired(db)
    expect(await poll(codes)).toMatchObject(INVALID_GRANT)
  })

  test('is refused if the person revokes the access before the app polls', async () => {
    const cookie = await signIn()
    const codes = await started()
    await allow(cookie, codes)
    const client = service.client({ cookie })
    const { apps } = await client.apps.list()

    await client.apps.revoke({ id: apps[0]?.id ?? '' })

    expect(await poll(codes)).toMatchObject(INVALID_GRANT)
  })

  test('cannot poll with the code of another app', async () => {
    const codes = await started()
    await allow(await signIn(), codes)

    expect(await poll(codes, { client_id: await registerDeviceApp(service) })).toMatchObject(INVALID_GRANT)
    expect((await poll(codes)).status).toBe(200)
  })

  test.each([
    [{ client_id: 'unknown' }, 'invalid_client'],
    [{ client_id: '' }, 'invalid_request'],
    [{ scope: 'admin' }, 'invalid_scope'],
    [{ resource: 'https://other.example' }, 'invalid_target'],
  ])('cannot start with %j', async (fields, error) => {
    expect(await start(fields as Record<string, string>)).toMatchObject({ status: 400, body: { error } })
  })

  test('cannot poll for another resource', async () => {
    const codes = await started()
    await allow(await signIn(), codes)

    const answer = await poll(codes, { resource: `${service.origin}/mcp` })

    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_target' } })
    expect((await poll(codes, { resource: service.origin })).status).toBe(200)
  })

  test('is refused with an id that PostgreSQL cannot store', async () => {
    const codes = await started()

    expect(await poll(codes, { client_id: 'a\0b' })).toMatchObject(INVALID_GRANT)
    expect(await start({ client_id: 'a\0b' })).toMatchObject({ body: { error: 'invalid_client' } })
  })

  test('receives the tokens at the next poll if the database fails during a poll', async () => {
    const codes = await started()
    await allow(await signIn(), codes)
    await db.execute(sql`alter table oauth_records rename to hidden`)
    const failed = await poll(codes)
    await db.execute(sql`alter table hidden rename to oauth_records`)
    await waitForInterval()

    expect([failed.status, (await poll(codes)).status]).toEqual([500, 200])
  })

  test('is refused without a fetch if its id is a long URL', async () => {
    const limited = await startService({ RATE_LIMITS: 'on', LIMITS: 'documents=1' })
    const request = (id: string) =>
      createFetch(limited)('POST', '/device_authorization', encode({ client_id: id }), formType)
    const long = `https://127.0.0.1:9/${'a'.repeat(2000)}`

    const answers = [await request(`${long}1`), await request(`${long}2`)]
    const fetched = [await request('https://127.0.0.1:9/1'), await request('https://127.0.0.1:9/2')]

    expect(answers.map(({ status }) => status)).toEqual([400, 400])
    expect(fetched.map(({ status }) => status)).toEqual([400, 429])
    expect(fetched[1]?.headers.get('retry-after')).not.toBeNull()
  })

  test('cannot start without the grant type in its registration', async () => {
    const { body } = await call('POST', '/register', { redirect_uris: ['http://127.0.0.1/callback'] })
    const { client_id: other, grant_types } = body as { client_id: string; grant_types: string[] }

    expect(grant_types).toEqual(['authorization_code', 'refresh_token'])
    expect(await start({ client_id: other })).toMatchObject({ body: { error: 'unauthorized_client' } })
  })

  test('registers without a redirect URI', async () => {
    const { status, body } = await call('POST', '/register', { grant_types: [GRANT_TYPE] })

    expect(status).toBe(201)
    expect(body).toMatchObject({
      redirect_uris: [],
      grant_types: ['refresh_token', GRANT_TYPE],
      response_types: [],
    })
    expect(await call('POST', '/register', { grant_types: ['authorization_code'] })).toMatchObject({
      status: 400,
      body: { error: 'invalid_redirect_uri' },
    })
  })

  test('has an entry in the audit trail, with the person as the actor', async () => {
    const cookie = await signIn()
    const codes = await started()
    await allow(cookie, codes)

    const { audit } = await service.client({ cookie }).account.export()

    expect(audit).toContainEqual(expect.objectContaining({ action: 'grant.create', detail: client_id }))
  })

  test('connects with a client library', async () => {
    const config = await openid.dynamicClientRegistration(
      new URL(service.origin),
      { client_name: 'Console', grant_types: [GRANT_TYPE] },
      openid.None(),
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- the service of the test uses plain HTTP
      { execute: [openid.allowInsecureRequests], algorithm: 'oauth2' },
    )
    const codes = await openid.initiateDeviceAuthorization(config, { scope: 'read' })
    await allow(await signIn(), codes)

    const tokens = await openid.pollDeviceAuthorizationGrant(config, { ...codes, interval: 0 })

    expect((await listShelves(tokens)).status).toBe(200)
  })
})

describe('the page for the code', () => {
  test('asks a person without a session to sign in, and keeps the code', async () => {
    const { user_code, verification_uri_complete } = await started()
    const signedOut = await fetch(verification_uri_complete)
    expect(await signedOut.text()).toContain('An app on another device requests access')
    const email = newEmail()
    const post = (fields: Record<string, string | undefined>) =>
      fetch(verification_uri_complete, {
        method: 'POST',
        redirect: 'manual',
        headers: formType,
        body: encode({ email, ...fields }),
      })
    await post({ action: 'send' })
    const otp = codeSentTo(service, email)

    const signedIn = await post({ action: 'sign-in', otp })

    expect(signedIn.status).toBe(303)
    const location = signedIn.headers.get('location') ?? ''
    const cookie = signedIn.headers
      .getSetCookie()
      .map((each) => each.split(';')[0])
      .join('; ')
    const page = await fetch(new URL(location, service.origin), { headers: { cookie } })
    expect(await page.text()).toContain(`value="${user_code}"`)
  })

  test('grants nothing when it is opened', async () => {
    const cookie = await signIn()
    const codes = await started()

    await fetch(codes.verification_uri_complete, { headers: { cookie } })

    expect(await poll(codes)).toMatchObject({ body: { error: 'authorization_pending' } })
  })

  test.each(['continue', 'allow', 'deny'])('needs a session: %s', async (action) => {
    const codes = await started()

    const { html } = await submit('', { action, user_code: codes.user_code })

    expect(html).toContain('You are no longer signed in.')
    expect(await poll(codes)).toMatchObject({ body: { error: 'authorization_pending' } })
  })

  test.each([
    { origin: 'https://evil.example' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])('refuses a form from another page: %j', async (headers) => {
    const codes = await started()

    const { status } = await submit(await signIn(), { action: 'allow', user_code: codes.user_code }, headers)

    expect(status).toBe(403)
    expect(await poll(codes)).toMatchObject({ body: { error: 'authorization_pending' } })
  })

  test('is not for apps', async () => {
    const codes = await started()
    await allow(await signIn(), codes)
    const tokens = (await poll(codes)).body as Tokens
    const other = await started()

    const { html } = await submit('', { action: 'allow', user_code: other.user_code }, bearer(tokens))

    expect(html).toContain('You are no longer signed in.')
  })

  test('escapes the entered code, and shortens long codes', async () => {
    const cookie = await signIn()
    const hostile = `"><script>alert(1)</script>${'x'.repeat(10_000)}`

    const { html } = await submit(cookie, { action: 'continue', user_code: hostile })
    const opened = await fetch(`${service.origin}/device?${encode({ user_code: hostile })}`, {
      headers: { cookie },
    })

    for (const page of [html, await opened.text()]) {
      expect(page).not.toContain('<script')
      expect(page.length).toBeLessThan(5000)
    }
  })

  test.each(['deviceCodes', 'deviceCodesByAddress'])('limits guesses: %s', async (limit) => {
    const limited = await startService({ RATE_LIMITS: 'on', LIMITS: `${limit}=3` })
    const { cookie } = await signInOverHttp(limited, newEmail())
    const guess = (action: string) =>
      fetch(`${limited.origin}/device`, {
        method: 'POST',
        headers: { ...formType, cookie },
        body: encode({ action, user_code: 'BCDF-GHJK' }),
      })

    const answers = [await guess('continue'), await guess('allow'), await guess('deny'), await guess('allow')]

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429])
  })
})

test('the database contains no device code', async () => {
  const { device_code, user_code } = await started()
  const [row] = await db
    .select()
    .from(deviceCodes)
    .where(eq(deviceCodes.userCode, user_code.replace('-', '')))

  expect(row?.digest).toMatch(/^[\w-]{43}$/)
  expect(JSON.stringify(row)).not.toContain(device_code)
})

test('requests are limited by network', async () => {
  const limited = await startService({ RATE_LIMITS: 'on', LIMITS: 'deviceAuthorizations=2' })
  const id = await registerDeviceApp(limited)
  const request = () =>
    createFetch(limited)('POST', '/device_authorization', encode({ client_id: id, scope: 'read' }), formType)

  const answers = [await request(), await request(), await request()]

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429])
})
