import { afterAll, expect, test } from 'vitest'

import { list } from '../../db/accounts/audit.ts'
import { createApp } from '../../http/server/app.ts'
import { createFetch, signInOverHttp } from '../fixtures/http.ts'
import { createTallystick, newEmail } from '../fixtures/service.ts'

const ROOT = 'root@example.com'

test(
  'the embedded database records an impersonation and a deletion, and rejects changes of the audit trail',
  { timeout: 180_000 },
  async () => {
    const tallystick = await createTallystick({
      DATABASE_URL: 'memory:',
      ADMIN_EMAILS: ROOT,
      RATE_LIMITS: 'on',
    })
    const { db } = tallystick.services
    const server = createApp(tallystick.services)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    afterAll(async () => {
      server.closeAllConnections()
      server.close()
      await tallystick.close()
    })
    const address = server.address()
    const origin = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
    const service = { ...tallystick, origin, databaseUrl: '' }
    const call = createFetch(service)
    const email = newEmail()
    const root = await signInOverHttp(service, ROOT)
    const ada = await signInOverHttp(service, email)
    const { body } = await call('GET', '/api/me', undefined, { cookie: ada.cookie })
    const { id: userId } = body as { id: string }

    const begun = await call('POST', '/api/auth/admin/impersonate-user', { userId }, { cookie: root.cookie })
    const cookie = begun.headers
      .getSetCookie()
      .map((pair) => pair.split(';', 1)[0])
      .filter((pair) => !pair?.endsWith('='))
      .join('; ')
    const stopped = await call('POST', '/api/auth/admin/stop-impersonating', undefined, { cookie })
    const deleted = await call('POST', '/api/me/delete', { email }, { cookie: ada.cookie })

    const made = newEmail()
    await call('POST', '/api/auth/admin/create-user', { email: made, name: '' }, { cookie: root.cookie })
    const { response } = await signInOverHttp(service, made)
    expect(response.status).toBe(200)

    expect([begun.status, stopped.status, deleted.status]).toEqual([200, 200, 200])
    const rows = await list(db, {}, { limit: 100 })
    expect(rows.map(({ action }) => action)).toEqual([
      'sign-in',
      'admin.create-user',
      'account.delete',
      'impersonation.stop',
      'impersonation.start',
      'sign-in',
      'sign-in',
      'admin.set-role',
    ])
    expect(JSON.stringify(rows)).not.toContain(userId)
    await expect(db.execute('delete from audit')).rejects.toThrow()
    expect(await list(db, {}, { limit: 100 })).toEqual(rows)
  },
)
