import { type CryptoKey, decodeJwt, exportPKCS8, exportSPKI, generateKeyPair, SignJWT } from 'jose'
import { afterEach, expect, test, vi } from 'vitest'

import type { Database } from '../../db/connection/database.ts'
import { createVerifier } from '../../identity/token-verifier.ts'
import { createStorage } from '../../identity/tokens.ts'
import { createOAuthCalls, registerApp } from '../fixtures/oauth-app.ts'
import { settingsWithAddress, startService } from '../fixtures/service.ts'

const service = await startService(await settingsWithAddress())
const { origin } = service
const { db } = service.services
const { signIn } = createOAuthCalls(service)
const app = await registerApp(service)
const { access_token } = await app.obtainTokens(await signIn())
const foreignKey = (await generateKeyPair('ES256')).privateKey

afterEach(() => vi.restoreAllMocks())

const sign = (kid: string, key: CryptoKey) =>
  new SignJWT({ ...decodeJwt(access_token) }).setProtectedHeader({ alg: 'ES256', kid }).sign(key)

/** Stores a new signing key in the database, as another process would. Returns a token signed with this key. */
async function signWithNewKey() {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
  const id = crypto.randomUUID()
  await createStorage(db).set(['signing:key', id], {
    id,
    publicKey: await exportSPKI(publicKey),
    privateKey: await exportPKCS8(privateKey),
    created: Date.now(),
    alg: 'ES256',
  })
  return sign(id, privateKey)
}

/** Creates a token verifier. `state` counts the queries of the verifier and can simulate a database outage. */
function createObservedVerifier() {
  const state = { reads: 0, isDown: false }
  const counting = new Proxy(db, {
    get(target, name: keyof Database) {
      if (name === 'select') state.reads++
      if (state.isDown) throw new Error('The database is down')
      const value: unknown = target[name]
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  return { state, verify: createVerifier(counting, origin) }
}

const advanceClock = (milliseconds: number) => {
  const now = performance.now() + milliseconds
  vi.spyOn(performance, 'now').mockImplementation(() => now)
}

test('a token with an unknown key reloads the signing keys at most once in a few seconds', async () => {
  const { state, verify } = createObservedVerifier()
  expect(await verify(access_token, origin)).toBeDefined()
  expect(state.reads).toBe(1)

  const tokens = await Promise.all(
    Array.from({ length: 50 }, (_, index) => sign(`unknown-${index}`, foreignKey)),
  )
  for (const token of tokens) expect(await verify(token, origin)).toBeUndefined()
  expect(state.reads).toBe(1)

  advanceClock(6_000)
  const answers = await Promise.all(tokens.map((token) => verify(token, origin)))
  expect(answers.filter(Boolean)).toEqual([])
  expect(state.reads).toBe(2)
  expect(await verify(access_token, origin)).toBeDefined()
})

test('concurrent verifications share the first load', async () => {
  const { state, verify } = createObservedVerifier()

  const answers = await Promise.all(Array.from({ length: 20 }, () => verify(access_token, origin)))

  expect(answers.every(Boolean)).toBe(true)
  expect(state.reads).toBe(1)
})

test('a key of another process is loaded after a few seconds', async () => {
  const { verify } = createObservedVerifier()
  expect(await verify(access_token, origin)).toBeDefined()
  const token = await signWithNewKey()

  advanceClock(6_000)

  expect(await verify(token, origin)).toBeDefined()
  expect(await verify(access_token, origin)).toBeDefined()
})

test('a failed load is repeated at the next verification, and loaded keys stay valid', async () => {
  const { state, verify } = createObservedVerifier()
  state.isDown = true
  await expect(verify(access_token, origin)).rejects.toThrow('The database is down')
  state.isDown = false
  expect(await verify(access_token, origin)).toBeDefined()

  const token = await signWithNewKey()
  advanceClock(6_000)
  state.isDown = true
  await expect(verify(token, origin)).rejects.toThrow('The database is down')
  expect(await verify(access_token, origin)).toBeDefined()
  state.isDown = false

  expect(await verify(token, origin)).toBeDefined()
})
