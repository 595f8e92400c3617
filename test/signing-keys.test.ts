import { type CryptoKey, decodeJwt, exportPKCS8, exportSPKI, generateKeyPair, SignJWT } from 'jose'
import { afterEach, expect, test, vi } from 'vitest'

import type { Database } from '../db/database.ts'
import { createStorage, createVerifier } from '../src/identity/tokens.ts'
import { settingsWithAddress, newEmail, startService } from './service.ts'
import { registerApp } from './oauth-app.ts'
import { signInOverHttp } from './http.ts'

const service = await startService(await settingsWithAddress())
const { origin } = service
const { db } = service.services
const app = await registerApp(service)
const { cookie } = await signInOverHttp(service, newEmail())
const { access_token } = await app.obtainTokens(cookie)
const stranger = (await generateKeyPair('ES256')).privateKey

afterEach(() => vi.restoreAllMocks())

const sign = (kid: string, key: CryptoKey) =>
  new SignJWT({ ...decodeJwt(access_token) }).setProtectedHeader({ alg: 'ES256', kid }).sign(key)

/** A key that another process made. */
async function addKey() {
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

/** A verifier on a database that counts its statements and can be switched off. */
function observed() {
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

const pass = (milliseconds: number) => {
  const now = performance.now() + milliseconds
  vi.spyOn(performance, 'now').mockImplementation(() => now)
}

test('unknown keys do not reload the signing keys each time', async () => {
  const { state, verify } = observed()
  expect(await verify(access_token, origin)).toBeDefined()
  expect(state.reads).toBe(1)

  const unknown = await Promise.all(
    Array.from({ length: 50 }, (_, index) => sign(`unknown-${index}`, stranger)),
  )
  for (const token of unknown) expect(await verify(token, origin)).toBeUndefined()
  expect(state.reads).toBe(1)

  pass(6_000)
  const answers = await Promise.all(unknown.map((token) => verify(token, origin)))
  expect(answers.filter(Boolean)).toEqual([])
  expect(state.reads).toBe(2)
  expect(await verify(access_token, origin)).toBeDefined()
})

test('concurrent tokens share the first load', async () => {
  const { state, verify } = observed()
  const answers = await Promise.all(Array.from({ length: 20 }, () => verify(access_token, origin)))

  expect(answers.every(Boolean)).toBe(true)
  expect(state.reads).toBe(1)
})

test('a key that another process made is found after a few seconds', async () => {
  const { verify } = observed()
  expect(await verify(access_token, origin)).toBeDefined()
  const token = await addKey()

  pass(6_000)

  expect(await verify(token, origin)).toBeDefined()
  expect(await verify(access_token, origin)).toBeDefined()
})

test('a failed load is tried again at once, and known keys stay good meanwhile', async () => {
  const { state, verify } = observed()
  state.isDown = true
  await expect(verify(access_token, origin)).rejects.toThrow('The database is down')
  state.isDown = false
  expect(await verify(access_token, origin)).toBeDefined()

  const token = await addKey()
  pass(6_000)
  state.isDown = true
  await expect(verify(token, origin)).rejects.toThrow('The database is down')
  expect(await verify(access_token, origin)).toBeDefined()
  state.isDown = false

  expect(await verify(token, origin)).toBeDefined()
})
