import { eq, inArray, sql } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'

import { removeExpired } from '../../db/housekeeping.ts'
import { clients, records } from '../../db/accounts/oauth.ts'
import { codeKey } from '../../identity/tokens.ts'
import {
  createOAuthCalls,
  INVALID_GRANT,
  registerApp,
  type Tokens,
  UNAUTHORIZED,
} from '../fixtures/oauth-app.ts'
import { settingsWithAddress, startService } from '../fixtures/service.ts'

const service = await startService(await settingsWithAddress())
const { db } = service.services
const { get, signIn, listShelves } = createOAuthCalls(service)
const app = await registerApp(service)
const other = await registerApp(service)

/** Redeems a code. Returns the code, its tokens and the number of grants of the user. */
async function redeemCode() {
  const cookie = await signIn()
  const code = (await app.allow(cookie)).get('code') ?? ''
  const tokens = (await app.redeem(code)).body as Tokens
  expect(await listShelves(tokens)).toMatchObject({ status: 200 })
  const countGrants = async () => {
    const { body } = await get('/api/sessions', { cookie })
    return (body as { sessionCount: number }).sessionCount - 1
  }
  return { code, tokens, countGrants }
}

describe('a replayed code', () => {
  test('ends its grant, with the access and refresh tokens', async () => {
    const { code, tokens, countGrants } = await redeemCode()

    const replayed = await app.redeem(code)

    expect(replayed).toMatchObject(INVALID_GRANT)
    expect(await listShelves(tokens)).toMatchObject(UNAUTHORIZED)
    expect(await app.refresh(tokens.refresh_token)).toMatchObject(INVALID_GRANT)
    expect(await countGrants()).toBe(0)
  })

  test('ends the tokens that a refresh issued since', async () => {
    const { code, tokens } = await redeemCode()
    const refreshed = (await app.refresh(tokens.refresh_token)).body as Tokens

    await app.redeem(code)

    expect(await listShelves(refreshed)).toMatchObject(UNAUTHORIZED)
    expect(await app.refresh(refreshed.refresh_token)).toMatchObject(INVALID_GRANT)
  })

  test('is recognized 29 days after the code has expired', async () => {
    const { code, tokens } = await redeemCode()
    await db
      .update(records)
      .set({ expiresAt: sql`${records.expiresAt} - interval '29 days'` })
      .where(eq(records.key, codeKey(code)))
    await removeExpired(db)

    await app.redeem(code)

    expect(await listShelves(tokens)).toMatchObject(UNAUTHORIZED)
  })

  test.each([
    ['without its verifier', 'invalid_request', app, { code_verifier: undefined }],
    ['with another verifier', 'invalid_grant', app, { code_verifier: 'x'.repeat(43) }],
    ['with another redirect URI', 'invalid_grant', app, { redirect_uri: 'http://127.0.0.1:8/callback' }],
    ['by another app', 'invalid_grant', other, { code_verifier: app.verifier }],
  ])('%s is rejected and ends nothing', async (_, error, sender, fields) => {
    const { code, tokens, countGrants } = await redeemCode()

    const replayed = await sender.redeem(code, fields)

    expect(replayed).toMatchObject({ status: 400, body: { error } })
    expect(await listShelves(tokens)).toMatchObject({ status: 200 })
    expect(await app.refresh(tokens.refresh_token)).toMatchObject({ status: 200 })
    expect(await countGrants()).toBe(1)
  })

  test('ends only its own grant', async () => {
    const [one, two] = [await redeemCode(), await redeemCode()]

    await app.redeem(one.code)

    expect(await listShelves(two.tokens)).toMatchObject({ status: 200 })
  })
})

test('at most one of several concurrent redemptions of a code succeeds, and its grant ends', async () => {
  const cookie = await signIn()
  const code = (await app.allow(cookie)).get('code')

  const answers = await Promise.all(Array.from({ length: 20 }, () => app.redeem(code)))

  const successes = answers.filter(({ status }) => status === 200)
  expect(successes.length).toBeLessThanOrEqual(1)
  for (const { body } of successes) {
    expect(await listShelves(body as Tokens)).toMatchObject(UNAUTHORIZED)
    expect(await app.refresh((body as Tokens).refresh_token)).toMatchObject(INVALID_GRANT)
  }
  expect(await get('/api/sessions', { cookie })).toMatchObject({
    body: { sessionCount: 1 },
  })
})

test('apps without a grant are deleted 30 days after their registration', async () => {
  const [unused, used, recent] = [
    await registerApp(service),
    await registerApp(service),
    await registerApp(service),
  ]
  await used.obtainTokens(await signIn())
  await db
    .update(clients)
    .set({ createdAt: sql`now() - interval '31 days'` })
    .where(inArray(clients.id, [unused.id, used.id]))

  await removeExpired(db)

  const remaining = await db.select({ id: clients.id }).from(clients)
  expect(remaining).not.toContainEqual({ id: unused.id })
  expect(remaining).toEqual(expect.arrayContaining([{ id: used.id }, { id: recent.id }]))
})
