import { eq } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'

import { sessions } from '../../engine/db/accounts/sessions.ts'
import { bearer, registerApp } from '../../engine/test/fixtures/oauth-app.ts'
import { serverDatabase } from '../fixtures/operator.ts'
import { freePort } from '../../engine/dev/testing/postgres.ts'
import { runCommand, startCommand } from '../fixtures/programs.ts'
import { newEmail, startService } from '../fixtures/service.ts'

describe('tallystick', { timeout: 300_000 }, () => {
  test('serve starts the number of workers in WORKERS, and stops them', async () => {
    const environment = await serverDatabase()
    const port = String(await freePort())
    const { child, exit } = await startCommand({ ...environment, PORT: port, WORKERS: '2' }, 'serve')
    const services = new Set<string>()
    for (let requests = 0; requests < 20; requests++) {
      const response = await fetch(`http://127.0.0.1:${port}/api/status`, {
        headers: { connection: 'close' },
      })
      services.add(((await response.json()) as { service: string }).service)
    }

    child.kill('SIGTERM')

    expect(services.size).toBe(2)
    expect(await exit).toEqual([0, null])
  })

  test('fails with a message, without a stack and without passwords', async () => {
    const environment = await serverDatabase()

    const results = await Promise.all([
      runCommand(environment, 'admin', 'grant', 'x@example.com'),
      runCommand({ ...environment, PORT: 'x' }, 'serve'),
      runCommand({ ...environment, DATABASE_URL: 'postgres://a:hush@localhost:1/x' }, 'migrate'),
    ])

    for (const result of results) {
      expect(result).toMatchObject({ code: 1, stdout: '' })
      expect(result.stderr).not.toMatch(/^ +at |hush/m)
    }
    expect(results.map(({ stderr }) => stderr).join()).toMatch(/No account has.*PORT: .*ECONNREFUSED/s)
  })

  test('prints no terminal control sequence from the name of an app', async () => {
    const service = await startService({ BASE_URL: 'http://127.0.0.1:9' })
    const email = newEmail()
    const app = await registerApp(service)
    expect(bearer(await app.obtainTokens(await service.signIn(email))).authorization).toMatch(/^Bearer ./)
    // An earlier release accepted control characters in names, so a database may contain them.
    await service.services.db
      .update(sessions)
      .set({ userAgent: 'An app\u001b[2J\u202e' })
      .where(eq(sessions.clientId, app.id))

    const { stdout } = await runCommand({ DATABASE_URL: service.databaseUrl }, 'sessions', 'list', email)

    expect(stdout).toContain('An app\u{fffd}[2J\u{fffd}')
  })

  test('groups its help by callers and operators', async () => {
    const { stdout } = await runCommand({}, '--help')

    expect(stdout).toMatch(/Call a service:\n {2}login.*Run a service, .*:\n {2}serve/s)
  })
})
