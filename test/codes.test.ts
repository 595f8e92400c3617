import { eq, inArray, sql } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'

import { removeExpired } from '../db/housekeeping.ts'
import { clients, records } from '../db/oauth.ts'
import { codeKey } from '../src/identity/tokens.ts'
import { settingsWithAddress, newEmail, startService } from './service.ts'
import { bearer, registerApp, type Tokens } from './oauth-app.ts'
import { createFetch, signInOverHttp } from './http.ts'

const service = await startService(await settingsWithAddress())
const call = createFetch(service)
const app = await registerApp(service)
const other = await registerApp(service)

const INVALID_GRANT = { status: 400, body: { error: 'invalid_grant' } }
const person = async () => (await signInOverHttp(service, newEmail())).cookie
const list = (tokens: Tokens) => call('GET', '/api/tasks', undefined, bearer(tokens))

/** A redeemed code, and what it gave. */
async function redeemed() {
  const cookie = await person()
  const code = (await app.allow(cookie)).get('code') ?? ''
  const tokens = (await app.redeem(code)).body as Tokens
  expect(await list(tokens)).toMatchObject({ status: 200 })
  const grants = async () => {
    const { body } = await call('GET', '/api/sessions', undefined, { cookie })
    return (body as { sessionCount: number }).sessionCount - 1
  }
  return { code, tokens, grants }
}

describe('a replayed code', () => {
  test('ends its grant, with the access and refresh tokens', async () => {
    const { code, tokens, grants } = await redeemed()

    expect(await app.redeem(code)).toMatchObject(INVALID_GRANT)

    expect(await list(tokens)).toMatchObject({ status: 401 })
    expect(await app.refresh(tokens.refresh_token)).toMatchObject(INVALID_GRANT)
    expect(await grants()).toBe(0)
  })

  test('ends the tokens that a refresh gave since', async () => {
    const { code, tokens } = await redeemed()
    const refreshed = (await app.refresh(tokens.refresh_token)).body as Tokens

    await app.redeem(code)

    expect(await list(refreshed)).toMatchObject({ status: 401 })
    expect(await app.refresh(refreshed.refresh_token)).toMatchObject(INVALID_GRANT)
  })

  test('is recognised long after the minute in which a code can be redeemed', async () => {
    const { code, tokens } = await redeemed()
    await service.services.db
      .update(records)
      .set({ expiresAt: sql`${records.expiresAt} - interval '29 days'` })
      .where(eq(records.key, codeKey(code)))
    await removeExpired(service.services.db)

    await app.redeem(code)

    expect(await list(tokens)).toMatchObject({ status: 401 })
  })

  test.each<[string, (code: string) => Promise<unknown>]>([
    ['without its verifier', (code) => app.redeem(code, { code_verifier: undefined })],
    ['with another verifier', (code) => app.redeem(code, { code_verifier: 'x'.repeat(43) })],
    [
      'with another redirect URI',
      (code) => app.redeem(code, { redirect_uri: 'http://127.0.0.1:8/callback' }),
    ],
    ['by another app', (code) => other.redeem(code, { code_verifier: app.verifier })],
  ])('%s is refused and ends nothing', async (_, replay) => {
    const { code, tokens, grants } = await redeemed()

    expect(await replay(code)).toMatchObject(INVALID_GRANT)

    expect(await list(tokens)).toMatchObject({ status: 200 })
    expect(await app.refresh(tokens.refresh_token)).toMatchObject({ status: 200 })
    expect(await grants()).toBe(1)
  })

  test('ends only its own grant', async () => {
    const [one, two] = [await redeemed(), await redeemed()]

    await app.redeem(one.code)

    expect(await list(two.tokens)).toMatchObject({ status: 200 })
  })
})

test('of concurrent redemptions of a code at most one succeeds, and its grant has ended', async () => {
  const cookie = await person()
  const code = (await app.allow(cookie)).get('code')

  const answers = await Promise.all(Array.from({ length: 20 }, () => app.redeem(code)))

  const given = answers.filter(({ status }) => status === 200)
  expect(given.length).toBeLessThanOrEqual(1)
  for (const { body } of given) {
    expect(await list(body as Tokens)).toMatchObject({ status: 401 })
    expect(await app.refresh((body as Tokens).refresh_token)).toMatchObject(INVALID_GRANT)
  }
  expect(await call('GET', '/api/sessions', undefined, { cookie })).toMatchObject({
    body: { sessionCount: 1 },
  })
})

test('apps that registered long ago are removed, unless they hold a grant', async () => {
  const { db } = service.services
  const [unused, used, recent] = [
    await registerApp(service),
    await registerApp(service),
    await registerApp(service),
  ]
  await used.obtainTokens(await person())
  await db
    .update(clients)
    .set({ createdAt: sql`now() - interval '31 days'` })
    .where(inArray(clients.id, [unused.id, used.id]))

  await removeExpired(db)

  const kept = await db.select({ id: clients.id }).from(clients)
  expect(kept).not.toContainEqual({ id: unused.id })
  expect(kept).toEqual(expect.arrayContaining([{ id: used.id }, { id: recent.id }]))
})
