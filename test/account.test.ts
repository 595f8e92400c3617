import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { afterAll, describe, expect, test, vi } from 'vitest'

import { createAccountCalls, type FullAccount } from './fixtures/full-account.ts'
import { codeSentTo, signInOverHttp } from '../engine/test/fixtures/http.ts'
import { bearer, INVALID_GRANT } from '../engine/test/fixtures/oauth-app.ts'
import { PATIENCE } from '../engine/test/fixtures/patience.ts'
import { describeTransports, newEmail, settingsWithAddress, startService } from './fixtures/service.ts'

const ROOT = 'root@example.com'
const service = await startService({ ...(await settingsWithAddress()), ADMIN_EMAILS: ROOT })
const { call, post, get, idOf, createFullAccount, impersonate } = createAccountCalls(service)
const database = postgres(service.databaseUrl, { max: 2, onnotice: () => undefined })

afterAll(() => database.end())

/**
 * Lists the rows of all tables that contain one of the texts, as `table: row`. Except shares: the
 * address in a share belongs to the note of the author, who entered the address.
 */
async function rowsWith(...texts: string[]) {
  const tables = await database<{ name: string }[]>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_name <> 'note_shares'`
  const found = tables.map(async ({ name }) => {
    const rows = await database<{ row: string }[]>`
      select t::text as row from ${database(name)} t
      where t::text like any(${texts.map((text) => `%${text}%`)})`
    return rows.map(({ row }) => `${name}: ${row}`)
  })
  return (await Promise.all(found)).flat()
}

describeTransports(service, ({ person, stranger }) => {
  describe('account.get', () => {
    test('returns a new account with an empty name and a verified address', async () => {
      const email = newEmail()
      const ada = await person(email)

      expect(await ada.account.get()).toEqual({
        id: expect.stringMatching(/./),
        name: '',
        email,
        emailVerified: true,
      })
    })

    test('returns the changed name', async () => {
      const email = newEmail()
      const ada = await person(email)
      const before = await ada.account.get()

      await call('POST', '/api/auth/update-user', { name: 'Ada' }, { cookie: await service.signIn(email) })

      expect(await ada.account.get()).toEqual({ ...before, name: 'Ada' })
    })

    test('returns the same account whatever the case of the address', async () => {
      const email = newEmail()
      const [lower, upper] = [await person(email), await person(email.toUpperCase())]

      expect(await upper.account.get()).toEqual(await lower.account.get())
    })

    test('rejects a caller without credentials', async () => {
      await expect(stranger.account.get()).rejects.toMatchObject({
        code: 'UNAUTHORIZED',
        defined: true,
        status: 401,
        message: 'Sign in first',
      })
    })
  })

  describe('account.delete', () => {
    test('deletes every row of the account', async () => {
      const { email, id } = await createFullAccount()
      const ada = await person(email)

      const deleted = await ada.account.delete({ email: ` ${email.toUpperCase()} ` })

      expect(deleted).toEqual({ success: true })
      expect(await rowsWith(email, id)).toEqual([])
      await expect(ada.account.get()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    })

    test.each(['', 'ada@example.com', 'ada'])('has no effect with another address: %j', async (email) => {
      const ada = await person()
      const task = await ada.tasks.create({ taskTitle: 'Kept' })

      await expect(ada.account.delete({ email })).rejects.toMatchObject({
        code: 'WRONG_ADDRESS',
        defined: true,
        status: 400,
      })

      expect(await ada.tasks.get({ id: task.id })).toEqual(task)
    })

    test('keeps the data of other accounts, and the shares of their notes with the address', async () => {
      const [ada, bob] = [await person(), await person()]
      const { email } = await ada.account.get()
      const task = await bob.tasks.create({ taskTitle: 'Kept' })
      const note = await bob.notes.create({ title: 'Kept', body: '' })
      await bob.notes.share({ id: note.id, email, role: 'editor' })

      await ada.account.delete({ email })

      expect(await bob.tasks.list()).toEqual({ tasks: [task], taskCount: 1 })
      expect(await bob.notes.list()).toMatchObject({ notes: [{ ...note, sharedWith: 1 }] })
      expect(await bob.notes.shares({ id: note.id })).toMatchObject({ shares: [{ email, role: 'editor' }] })
      expect(await (await person(email)).notes.list()).toMatchObject({ notes: [{ id: note.id }] })
    })

    test('changes nothing that tells an author whether the address had an account', async () => {
      const [known, unknown] = [newEmail(), newEmail()]
      const [ada, bob] = [await person(known), await person()]
      const note = await bob.notes.create({ title: 'Kept', body: '' })
      for (const email of [known, unknown]) await bob.notes.share({ id: note.id, email, role: 'reader' })
      const read = async () => [await bob.notes.list(), await bob.notes.shares({ id: note.id })]
      const before = await read()

      await ada.account.delete({ email: known })

      expect(await read()).toEqual(before)
    })
  })
})

describe('a deleted account', () => {
  test('loses every session and grant immediately', async () => {
    const { email, cookie, tokens, app } = await createFullAccount()
    const elsewhere = await service.signIn(email)

    const { headers } = await post('/api/me/delete', { email }, cookie)

    for (const credentials of [{ cookie }, { cookie: elsewhere }, bearer(tokens)])
      expect(await call('GET', '/api/me', undefined, credentials)).toMatchObject({ status: 401 })
    expect(await app.refresh(tokens.refresh_token)).toMatchObject(INVALID_GRANT)
    expect(headers.getSetCookie()).toContainEqual(
      expect.stringMatching(/^better-auth\.session_token=; Max-Age=0; Path=\/; HttpOnly/),
    )
  })

  test('invalidates its pending codes', async () => {
    const { email, cookie, app } = await createFullAccount()
    const code = (await app.allow(cookie)).get('code')
    await post('/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })
    const otp = codeSentTo(service, email)

    await post('/api/me/delete', { email }, cookie)

    expect(await app.redeem(code)).toMatchObject(INVALID_GRANT)
    expect(await post('/api/auth/sign-in/email-otp', { email, otp })).toMatchObject({ status: 400 })
  })

  test('is replaced by a new account at the next sign-in, with nothing but notes of other people', async () => {
    const { email, cookie, id, bob, sharedByBob } = await createFullAccount()

    await post('/api/me/delete', { email }, cookie)
    const { cookie: newCookie } = await signInOverHttp(service, email)

    expect(await get('/api/me', newCookie)).toMatchObject({ body: { email, name: '' } })
    expect(await idOf(newCookie)).not.toBe(id)
    expect(await get('/api/tasks', newCookie)).toMatchObject({ body: { taskCount: 0 } })
    expect(await get('/api/notes', newCookie)).toMatchObject({ body: { notes: [{ id: sharedByBob.id }] } })
    expect(await bob.notes.list()).toMatchObject({ notes: [{ id: sharedByBob.id, sharedWith: 1 }] })
  })

  test('can be the account of the last administrator, and ADMIN_EMAILS applies at the next sign-in', async () => {
    const cookie = await service.signIn(ROOT)
    const { id } = await createFullAccount()
    const acting = await impersonate(id, cookie)

    const deleted = await post('/api/me/delete', { email: ROOT }, cookie)

    expect(deleted).toMatchObject({ status: 200 })
    expect((await get('/api/me', acting)).status).toBe(401)
    expect((await get('/api/auth/admin/list-users', await service.signIn(ROOT))).status).toBe(200)
  })

  test('leaves no row if an administrator removes the account', async () => {
    const { email, id } = await createFullAccount()

    const { status } = await post('/api/auth/admin/remove-user', { userId: id }, await service.signIn(ROOT))

    expect(status).toBe(200)
    expect(await rowsWith(email, id)).toEqual([])
  })

  test.each(['GET /api/me/export', 'POST /api/me/delete'])(
    'is available only to the user, not during an impersonation: %s',
    async (operation) => {
      const { email, id, cookie } = await createFullAccount()
      const [method = '', path = ''] = operation.split(' ')
      const acting = await impersonate(id, await service.signIn(ROOT))
      const body = method === 'POST' ? { email } : undefined

      const answer = await call(method, path, body, { cookie: acting })

      expect(answer).toMatchObject({
        status: 403,
        body: { code: 'FORBIDDEN', defined: true },
      })
      expect(await idOf(cookie)).toBe(id)
    },
  )

  test('cannot be requested by a page of another site', async () => {
    const { email, id, cookie } = await createFullAccount()
    const crossSite = { cookie, origin: 'https://evil.example' }

    const answer = await call('POST', '/api/me/delete', { email }, crossSite)

    expect(answer).toMatchObject({ status: 403 })
    expect(await idOf(cookie)).toBe(id)
  })
})

describe('during the deletion of an account', () => {
  const requests: Record<string, (account: FullAccount) => Promise<{ status: number }>> = {
    'the creation of a task': ({ cookie }) => post('/api/tasks', { taskTitle: 'x' }, cookie),
    'the creation of a note': ({ cookie }) => post('/api/notes', { title: 'x', body: '' }, cookie),
    'the authorization of an app': ({ cookie, app }) => app.submitConsent({ action: 'allow' }, { cookie }),
  }

  /**
   * Deletes an account in a transaction. Before the commit, sends a request and waits until a lock of the transaction
   * blocks the request. Returns the response, which arrives after the commit.
   */
  async function sendDuringDeletion<Answer>(id: string, send: () => Promise<Answer>) {
    let answer: Promise<Answer> | undefined
    await database.begin(async (tx) => {
      await tx`delete from users where id = ${id}`
      answer = send()
      await vi.waitFor(async () => {
        // The transaction sees its first view of the activity until the view is cleared.
        await tx`select pg_stat_clear_snapshot()`
        const waiting = await tx`
          select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
        expect(waiting).not.toEqual([])
      }, PATIENCE)
    })
    return answer
  }

  test.each(Object.entries(requests))('%s waits and answers 401', async (_, send) => {
    const account = await createFullAccount()

    const answer = await sendDuringDeletion(account.id, () => send(account))

    expect(answer?.status).toBe(401)
  })

  test('a sign-in waits and creates a new account', async () => {
    const { id, email } = await createFullAccount()

    const answer = await sendDuringDeletion(id, () => signInOverHttp(service, email))

    const { body } = await get('/api/me', answer?.cookie ?? '')
    expect(body).toMatchObject({ email, name: '' })
    expect(body).not.toMatchObject({ id })
  })

  test('concurrent requests of the user succeed or are rejected, and none fails', async () => {
    for (let round = 0; round < 3; round++) {
      const { email, cookie, note, task, app, tokens } = await createFullAccount()
      const requests: (() => Promise<{ status: number }>)[] = [
        () => post('/api/me/delete', { email }, cookie),
        () => post('/api/tasks', { taskTitle: 'x' }, cookie),
        () => call('PATCH', `/api/tasks/${task.id}`, { title: 'y' }, { cookie }),
        () => post('/api/tasks/reset', undefined, cookie),
        () => post('/api/notes', { title: 'x', body: '' }, cookie),
        () => post(`/api/notes/${note.id}`, { title: 'x', body: '' }, cookie),
        () => post(`/api/notes/${note.id}/share`, { email: newEmail(), role: 'reader' }, cookie),
        () => post('/api/notes/reset', undefined, cookie),
        () => get('/api/me/export', cookie),
        () => get('/api/sessions', cookie),
        () => post('/api/auth/update-user', { name: 'x' }, cookie),
        () => app.submitConsent({ action: 'allow' }, { cookie }),
        () => app.refresh(tokens.refresh_token),
        () => call('POST', '/api/tasks', { taskTitle: 'x' }, bearer(tokens)),
      ]
      const started = [...requests, ...requests, ...requests].map(async (send) => {
        // Any order of the requests is valid.
        await sleep(Math.random() * 60)
        return (await send()).status
      })

      const statuses = await Promise.all(started)

      expect(statuses.filter((status) => status >= 500)).toEqual([])
      expect((await get('/api/me', cookie)).status).toBe(401)
    }
  })
})
