import { expect } from 'vitest'

import { cookiesAfter, createFetch, signInOverHttp } from './http.ts'
import { registerApp } from './oauth-app.ts'
import { newEmail, type Service } from './service.ts'

export type FullAccount = Awaited<ReturnType<ReturnType<typeof createAccountCalls>['createFullAccount']>>

export function createAccountCalls(service: Service) {
  const call = createFetch(service)
  const post = (path: string, body: object | undefined, cookie?: string) =>
    call('POST', path, body, cookie === undefined ? {} : { cookie })
  const get = (path: string, cookie: string) => call('GET', path, undefined, { cookie })
  const idOf = async (cookie: string) => ((await get('/api/me', cookie)).body as { id: string }).id

  /** Creates an account with one row of each kind that a user can create. Bob shares a note with this account. */
  async function createFullAccount(email = newEmail()) {
    const { cookie } = await signInOverHttp(service, email, { 'user-agent': 'A browser' })
    const [ada, bob] = [service.client({ cookie }), await service.person()]
    await post('/api/auth/update-user', { name: 'Ada' }, cookie)
    const task = await ada.tasks.create({ taskTitle: 'A task', taskDesc: 'Its description' })
    const note = await ada.notes.create({ title: 'A note', body: 'Its body' })
    await ada.notes.share({ id: note.id, email: 'reader@example.com', role: 'reader' })
    const sharedByBob = await bob.notes.create({ title: 'Of Bob', body: 'Between us' })
    await bob.notes.share({ id: sharedByBob.id, email, role: 'editor' })
    const app = await registerApp(service)
    const tokens = await app.obtainTokens(cookie)
    return { email, cookie, ada, bob, task, note, sharedByBob, app, tokens, id: await idOf(cookie) }
  }

  /** Starts an impersonation and returns its cookies. */
  async function impersonate(userId: string, administratorCookie: string) {
    const started = await post('/api/auth/admin/impersonate-user', { userId }, administratorCookie)
    const cookie = cookiesAfter(started)
    expect(await idOf(cookie)).toBe(userId)
    return cookie
  }

  return { call, post, get, idOf, createFullAccount, impersonate }
}
