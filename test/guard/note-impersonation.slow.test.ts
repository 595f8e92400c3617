import { describe, expect, test } from 'vitest'

import { cookiesAfter, createFetch, signInOverHttp } from '../../engine/test/fixtures/http.ts'
import { newEmail, startService } from '../fixtures/service.ts'

const ROOT = 'root@example.com'
const service = await startService({ ADMIN_EMAILS: ROOT })
const call = createFetch(service)

const get = (path: string, cookie: string) => call('GET', path, undefined, { cookie })
const post = (path: string, body: object, cookie: string) => call('POST', path, body, { cookie })

async function signIn(email = newEmail()) {
  const { cookie } = await signInOverHttp(service, email)
  const { body } = await get('/api/me', cookie)
  return { cookie, id: (body as { id: string }).id }
}

/** Creates a user, and returns the cookies of the user and of an administrator who impersonates the user. */
async function startImpersonation() {
  const [root, ada] = [await signIn(ROOT), await signIn()]
  const started = await post('/api/auth/admin/impersonate-user', { userId: ada.id }, root.cookie)
  const cookie = cookiesAfter(started, root.cookie)
  expect(await get('/api/me', cookie)).toMatchObject({ status: 200, body: { id: ada.id } })
  return { ada, cookie }
}

describe('an impersonation', () => {
  test.each(['share', 'unshare'])('cannot %s a note, but changes and shows the note', async (operation) => {
    const { ada, cookie } = await startImpersonation()
    const { body } = await post('/api/notes', { title: 'Plan', body: '' }, ada.cookie)
    const { id } = body as { id: string }
    const email = newEmail()
    await post(`/api/notes/${id}/share`, { email, role: 'reader' }, ada.cookie)

    const refused = await post(`/api/notes/${id}/${operation}`, { email, role: 'editor' }, cookie)

    expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN', defined: true } })
    const { shares } = (await get(`/api/notes/${id}/shares`, cookie)).body as { shares: object[] }
    expect(shares).toMatchObject([{ email, role: 'reader' }])
    expect(await post(`/api/notes/${id}`, { title: 'Changed', body: '' }, cookie)).toMatchObject({
      status: 200,
      body: { sharedWith: 1, can: { SHARE_NOTE: true } },
    })
  })

  test('cannot leave a note', async () => {
    const { ada, cookie } = await startImpersonation()
    const { email } = (await get('/api/me', ada.cookie)).body as { email: string }
    const bob = await signIn()
    const { body } = await post('/api/notes', { title: 'Plan', body: '' }, bob.cookie)
    const { id } = body as { id: string }
    await post(`/api/notes/${id}/share`, { email, role: 'reader' }, bob.cookie)

    const refused = await post(`/api/notes/${id}/leave`, {}, cookie)

    expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN', defined: true } })
    expect((await get('/api/notes', ada.cookie)).body).toMatchObject({ notes: [{ id }] })
  })
})
