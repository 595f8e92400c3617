import { describe, expect, test } from 'vitest'

import { list } from '../db/accounts/audit.ts'
import { createFetch } from './fixtures/http.ts'
import { newEmail, startService } from './fixtures/service.ts'

const service = await startService({ RATE_LIMITS: 'off' })
const call = createFetch(service)

const ROUNDS = 6

const post = async (path: string, body: object, cookie: string) =>
  (await call('POST', path, body, { cookie })).status

async function person() {
  const email = newEmail()
  return { email, cookie: await service.signIn(email) }
}

async function tokensOfOthers(cookie: string) {
  const { body } = await call('GET', '/api/sessions', undefined, { cookie })
  const { sessions } = body as { sessions: { token: string; isCurrent: boolean }[] }
  return sessions.flatMap(({ token, isCurrent }) => (isCurrent ? [] : [token]))
}

describe('account.delete', () => {
  test('deletes the account once for concurrent requests, and rejects the others', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { email, cookie } = await person()
      const before = (await list(service.services.db, {}, { limit: 1 })).at(0)?.id ?? 0

      const statuses = await Promise.all([1, 2, 3].map(() => post('/api/me/delete', { email }, cookie)))

      expect(statuses.sort()).toEqual([200, 401, 401])
      const entries = await list(service.services.db, {}, { limit: 10 })
      const added = entries.filter(({ id }) => id > before)
      expect(added.map(({ action }) => action)).toEqual(['account.delete'])
    }
  })

  test('does not deadlock with concurrent revocations of the account’s sessions', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { email, cookie } = await person()
      for (let device = 0; device < 6; device++) await service.signIn(email)
      const tokens = await tokensOfOthers(cookie)

      const statuses = await Promise.all([
        post('/api/me/delete', { email }, cookie),
        ...tokens.map((token) => post('/api/sessions/revoke', { revokeSessionToken: token }, cookie)),
      ])

      expect(statuses.filter((status) => status >= 500)).toEqual([])
    }
  })
})
