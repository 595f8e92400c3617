import { AsyncLocalStorage, executionAsyncResource } from 'node:async_hooks'
import { expect, test } from 'vitest'

import { createFetch, signInOverHttp } from '../fixtures/http.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const service = await startService()
const call = createFetch(service)
// Disables storages that other test files of this process have enabled by direct calls of better-auth.
await signInOverHttp(service, newEmail())

// Up to Node 22, the resource of a continuation is its promise while a storage is enabled. Node 24 has no such cost.
const areHooksEnabled = async () => {
  await Promise.resolve()
  return executionAsyncResource() instanceof Promise
}
const [major = ''] = process.versions.node.split('.')

test.runIf(Number(major) < 24)('an enabled storage is visible to this test', async () => {
  expect(await areHooksEnabled()).toBe(false)
  const storage = new AsyncLocalStorage()
  await storage.run({}, () => Promise.resolve())
  expect(await areHooksEnabled()).toBe(true)
  storage.disable()
  expect(await areHooksEnabled()).toBe(false)
})

test('no storage remains enabled after a sign-in, a session request and a sign-out', async () => {
  const { cookie, response } = await signInOverHttp(service, newEmail())
  expect(response.status).toBe(200)
  expect(await areHooksEnabled()).toBe(false)

  const session = await call('GET', '/api/auth/get-session', undefined, { cookie })
  expect(session.body).toMatchObject({ user: {} })
  expect(await areHooksEnabled()).toBe(false)

  expect((await call('POST', '/api/auth/sign-out', {}, { cookie })).status).toBe(200)
  expect(await areHooksEnabled()).toBe(false)
})

test('a wrong code leaves no storage enabled', async () => {
  const answer = await call('POST', '/api/auth/sign-in/email-otp', { email: newEmail(), otp: '000000' })
  expect(answer.status).toBe(400)
  expect(await areHooksEnabled()).toBe(false)
})

test('concurrent sign-ins do not disable the storages of each other', async () => {
  const emails = Array.from({ length: 40 }, newEmail)
  const signIns = emails.map(async (email, index) => {
    // Starts the sign-ins at different moments, so that some end while others run. Any order is valid.
    await new Promise((resolve) => setTimeout(resolve, index * 3))
    const { cookie } = await signInOverHttp(service, email)
    return (await call('GET', '/api/me', undefined, { cookie })).body
  })
  expect(await Promise.all(signIns)).toMatchObject(emails.map((email) => ({ email })))
  expect(await areHooksEnabled()).toBe(false)
})
