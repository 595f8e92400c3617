import { chmod, chown, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import postgres from 'postgres'
import { SMTPServer } from 'smtp-server'
import { describe, expect, onTestFinished, test, vi } from 'vitest'

import {
  emptyFolder,
  emptyServerDatabase,
  type Environment,
  run,
  serverDatabase,
  withService,
} from '../fixtures/operator.ts'
import { postgresOfRun } from '../../engine/dev/testing/database.ts'
import { databaseUrl } from '../../engine/dev/testing/database-url.ts'
import { listenForMail } from '../../engine/test/fixtures/mail-server.ts'

/** Connects to the database of an environment. The connection is closed at the end of the test. */
const connect = ({ DATABASE_URL = '' }: Environment) => {
  const sql = postgres(DATABASE_URL, { max: 1, onnotice: () => undefined })
  onTestFinished(() => sql.end())
  return sql
}

describe('tallystick admin', () => {
  test('grants, lists and revokes the role, and warns if ADMIN_EMAILS would grant the role again', async () => {
    const environment = await serverDatabase()
    const settings = { ...environment, ADMIN_EMAILS: 'ada@example.com,later@example.com' }
    await run(environment, 'seed')

    expect(await run(environment, 'admin', 'grant', 'Ada@Example.com')).toMatchObject({ problem: undefined })
    expect((await run(environment, 'admin', 'list')).lines).toEqual(['ada@example.com  Ada Lovelace'])
    expect((await run(settings, 'admin', 'list')).text).toContain('later@example.com  (in ADMIN_EMAILS')

    expect((await run(settings, 'admin', 'revoke', 'ada@example.com')).text).toContain('from ADMIN_EMAILS')
    expect((await run(environment, 'admin', 'revoke', 'ada@example.com')).text).not.toContain('ADMIN_EMAILS')
    expect((await run(environment, 'admin', 'list')).lines).toEqual([])
  })

  test.each(['grant', 'revoke'])('%s fails for an address without an account', async (verb) => {
    const { problem, lines } = await run(await serverDatabase(), 'admin', verb, 'nobody@example.com')

    expect(problem).toContain('No account has the address nobody@example.com')
    expect(lines).toEqual([])
  })

  test('grants a role that a running service applies immediately', async () => {
    const environment = await serverDatabase()
    await withService(environment, async (service) => {
      const cookie = await service.signIn('ada@example.com')
      const headers = new Headers({ cookie })
      const list = () => service.services.auth.api.listUsers({ headers, query: {} })
      await expect(list()).rejects.toThrow()

      await run(environment, 'admin', 'grant', 'ada@example.com')

      expect((await list()).total).toBe(1)
    })
  })
})

describe('tallystick sessions', () => {
  test('lists the sessions of an account without tokens, and ends one or all of them', async () => {
    const environment = await serverDatabase()
    const tokens = await withService(environment, async (service) => {
      const clients = [await service.person('ada@example.com'), await service.person('ada@example.com')]
      await service.person('bob@example.com')
      return (await clients[0]?.sessions.list())?.sessions.map(({ token }) => token) ?? []
    })
    const sessions = (...words: string[]) => run(environment, 'sessions', ...words)

    const { lines, text } = await sessions('list', 'ada@example.com')
    expect(lines).toHaveLength(2)
    expect(tokens).toHaveLength(2)
    for (const token of tokens) expect(text).not.toContain(token)

    const [id = ''] = lines[0]?.split(' ') ?? []
    const wrong = await sessions('revoke', 'bob@example.com', '--id', id)
    expect(wrong.problem).toContain('bob@example.com has no session')
    expect((await sessions('revoke', 'ada@example.com')).problem).toContain('--all')
    expect((await sessions('list', 'ada@example.com')).lines).toEqual(lines)
    expect((await sessions('revoke', 'ada@example.com', '--id', id)).text).toBe('Sessions ended: 1')
    expect((await sessions('list', 'ada@example.com')).lines).toEqual([lines[1]])
    expect((await sessions('revoke', 'ada@example.com', '--all')).text).toBe('Sessions ended: 1')
    expect((await sessions('list', 'bob@example.com')).lines).toHaveLength(1)
    expect((await sessions('list', 'nobody@example.com')).problem).toContain('No account has')
  })
})

describe('tallystick reset', () => {
  test('deletes all schemas of a server, if its database is named', async () => {
    const environment = await serverDatabase()
    const name = new URL(environment.DATABASE_URL).pathname.slice(1)
    await connect(environment)`create schema other`

    const unnamed = await run(environment, 'reset', '--yes')
    const other = await run(environment, 'reset', '--yes', '--database', 'postgres')
    const unasked = await run(environment, 'reset', '--database', name)
    const before = await run(environment, 'migrate', '--check')
    await run(environment, 'reset', '--database', name, '--yes')

    for (const { problem } of [unnamed, other]) expect(problem).toContain(`add: --database ${name}`)
    expect(unasked.problem).toMatch(/^Delete all schemas .* Without a terminal, add --yes\.$/)
    expect(before.problem).toBeUndefined()
    expect(await connect(environment)`select from pg_namespace where nspname = 'other'`).toHaveLength(0)
    expect((await run(environment, 'migrate')).lines.length).toBeGreaterThan(4)
  })

  test('deletes the embedded database, and keeps the other files', async () => {
    const environment = await emptyFolder()
    await mkdir(join(environment.DATA_DIR, 'db'))
    await writeFile(join(environment.DATA_DIR, 'db/PG_VERSION'), '18')
    await writeFile(join(environment.DATA_DIR, 'auth-secret'), 'x'.repeat(32))

    const unasked = await run(environment, 'reset')
    const { problem } = await run(environment, 'reset', '--yes')

    expect(unasked.problem).toContain('add --yes')
    expect(problem).toBeUndefined()
    expect((await readdir(environment.DATA_DIR)).sort()).toEqual(['auth-secret', 'db.lock'])
    expect((await run(environment, 'reset', '--yes')).problem).toContain('There is no database in')
  })

  test('is refused in production', async () => {
    const environment = await serverDatabase()
    const name = new URL(environment.DATABASE_URL).pathname.slice(1)

    const { problem } = await run(
      { ...environment, NODE_ENV: 'production' },
      ...['reset', '--yes', '--database', name],
    )

    expect(problem).toContain('NODE_ENV is production')
    expect((await run(environment, 'migrate', '--check')).problem).toBeUndefined()
  })
})

describe('tallystick migrate', () => {
  test('applies the pending migrations and prints their names', async () => {
    const environment = await emptyServerDatabase()

    const { lines } = await run(environment, 'migrate')

    expect(lines[0]).toMatch(/^Applied tallystick\/0000_/)
    expect(await run(environment, 'migrate')).toMatchObject({ text: 'The database is up to date.' })
    expect(await run(environment, 'migrate', '--check')).toMatchObject({ problem: undefined })
  })

  test('lists only the pending migrations with --check', async () => {
    const environment = await serverDatabase()
    await connect(environment)`delete from drizzle.__drizzle_migrations
      where created_at = (select max(created_at) from drizzle.__drizzle_migrations)`
    const last = (await readdir('db/migrations'))
      .filter((name) => name.endsWith('.sql'))
      .sort()
      .at(-1)

    expect((await run(environment, 'migrate', '--check')).lines).toEqual([last?.replace('.sql', '')])
  })

  test('names an applied migration whose file has changed', async () => {
    const environment = await serverDatabase()
    await connect(environment)`update drizzle.__drizzle_migrations set hash = 'x' where name = '0002_growth'`

    const checked = await run(environment, 'migrate', '--check')
    const { lines, problem } = await run(environment, 'migrate')

    expect(checked).toMatchObject({
      lines: [expect.stringMatching(/^0002_growth has changed after/)],
      problem: 'Files of applied migrations have changed.',
    })
    expect(lines).toEqual([checked.lines[0], 'The database is up to date.'])
    expect(problem).toBeUndefined()
    expect((await run(environment, 'doctor')).text).toMatch(/^problem +migrations +0002_growth has changed/m)
  })

  test('rejects a database in memory', async () => {
    expect((await run({ ...(await emptyFolder()), DATABASE_URL: 'memory:' }, 'migrate')).problem).toContain(
      'in memory',
    )
  })
})

/** The time until a stream must show a state. The test measures no time, so this time is long. */
const WAIT = { timeout: 60_000 }

describe('tallystick seed', () => {
  const production = {
    NODE_ENV: 'production',
    BASE_URL: 'https://example.com',
    AUTH_SECRET: 'a'.repeat(32),
    SMTP_URL: 'smtp://127.0.0.1:1',
    MAIL_FROM: 'x@example.com',
  }

  test('requires --force in production', async () => {
    const environment = { ...(await serverDatabase()), ...production }

    expect((await run(environment, 'seed')).problem).toContain('--force')
    expect((await run(environment, 'seed', 'me@example.com', '--force')).text).toContain(
      'sign in as me@example.com: npx tallystick login.',
    )
    expect((await run(environment, 'sessions', 'list', 'me@example.com')).problem).toBeUndefined()
    expect((await run(environment, 'seed', 'nobody', '--force')).problem).toContain(
      'nobody is not an e-mail address',
    )
  })

  test('announces the tasks and notes to the open streams of a running service', async () => {
    const environment = await serverDatabase()
    await withService(environment, async ({ person, services }) => {
      const client = await person('ada@example.com')
      const latest: Record<string, unknown> = {}
      const read = async () => {
        for await (const { topic, state } of await client.live.watch({ topics: ['tasks', 'notes'] }))
          latest[topic] = state
      }
      const ended = read()
      await vi.waitFor(() => {
        expect(latest).toMatchObject({ tasks: { tasks: [] }, notes: { notes: [] } })
      }, WAIT)

      await run(environment, 'seed')

      const expected = { tasks: await client.tasks.list(), notes: await client.notes.list() }
      expect(expected.tasks.taskCount).toBeGreaterThan(0)
      await vi.waitFor(() => {
        expect(latest).toEqual(expected)
      }, WAIT)
      services.closing.abort()
      await ended
    })
  })
})

describe('tallystick openapi', () => {
  test('prints the OpenAPI document', async () => {
    const { text } = await run({}, 'openapi')

    expect(`${text}\n`).toBe(await readFile('docs/openapi.json', 'utf8'))
  })
})

describe('tallystick permissions', () => {
  test('prints the actions of each relation', async () => {
    const { lines } = await run({}, 'permissions')

    expect(lines.map((line) => line.split(/ {2,}/))).toEqual([
      ['tasks', 'owner', 'EDIT_TASK'],
      ['notes', 'author', 'VIEW_NOTE, EDIT_NOTE, SHARE_NOTE, DELETE_NOTE'],
      ['notes', 'editor', 'VIEW_NOTE, EDIT_NOTE, LEAVE_NOTE'],
      ['notes', 'reader', 'VIEW_NOTE, LEAVE_NOTE'],
      ['notes', 'anyone', 'CREATE_NOTE'],
    ])
  })
})

describe('tallystick doctor', () => {
  const diagnose = async (environment: Environment) => {
    const { lines, problem } = await run({ ...(await emptyFolder()), ...environment }, 'doctor')
    return { problem, problems: lines.filter((line) => line.startsWith('problem')).join('\n') }
  }

  test('names every invalid setting', async () => {
    const { problems, problem } = await diagnose({
      PORT: 'x',
      AUTH_SECRET: 'hush',
      DATABASE_URL: 'mysql://a:hush@b',
    })

    expect(problems).toMatch(/PORT.*\n.*DATABASE_URL.*\n.*AUTH_SECRET/)
    expect(problems).not.toContain('hush')
    expect(problem).toBe('Problems: 3')
  })

  test.each([
    ['does not respond', 'postgres://me:hush@127.0.0.1:1/x', 'does not respond'],
    ['contains an unknown host', 'postgres://me:hu@sh@nowhere.invalid/x', 'DATABASE_URL: '],
    ['is not a valid URL', 'postgres://me:hu/sh@127.0.0.1/x', 'DATABASE_URL: '],
  ])('does not print the password of an address that %s', async (_, url, advice) => {
    const { problems } = await diagnose({ DATABASE_URL: url })

    expect(problems).toContain(advice)
    expect(problems).not.toMatch(/hu|sh@/)
  })

  test('reports a missing database and rejected credentials', async () => {
    const { url } = postgresOfRun()
    const unknownUser = new URL(url)
    unknownUser.username = 'stranger'

    expect((await diagnose({ DATABASE_URL: databaseUrl(url, 'nowhere') })).problems).toContain('createdb')
    expect((await diagnose({ DATABASE_URL: unknownUser.href })).problems).toContain(
      'rejected the user name or the password',
    )
  })

  test('reports missing migrations, an old server and a clock difference', async () => {
    const environment = await emptyServerDatabase()
    const sql = connect(environment)
    await sql`create function current_setting(text) returns text language sql
      return case $1 when 'server_version' then '14.9' else pg_catalog.current_setting($1) end`
    await sql`create function clock_timestamp() returns timestamptz language sql
      return pg_catalog.clock_timestamp() + interval '1 minute'`
    const searchPath = 'options=-c search_path=public,pg_catalog'

    const { problems } = await diagnose({ DATABASE_URL: `${environment.DATABASE_URL}?${searchPath}` })

    expect(problems).toContain('PostgreSQL 14.9')
    expect(problems).toMatch(/0000_\w+, .* missing: run tallystick migrate/)
    expect(problems).toMatch(/60\.\d s difference to the database server: synchronize both clocks/)
  })

  test('authenticates with the mail server, and reports a failure without the password', async () => {
    const server = new SMTPServer({
      logger: false,
      allowInsecureAuth: true,
      disabledCommands: ['STARTTLS'],
      onAuth: ({ username, password }, _, done) => {
        if (password === 'right') done(null, { user: username })
        else done(new Error(`Not with ${password ?? ''}`))
      },
    })
    const address = await listenForMail(server)

    expect((await diagnose({ SMTP_URL: `smtp://me:right@${address}` })).problem).toBeUndefined()
    const { problems } = await diagnose({ SMTP_URL: `smtp://me:hush@${address}` })
    expect(problems).toContain('SMTP_URL: the server rejected the user name or the password')
    expect(problems).not.toContain('hush')
    expect((await diagnose({ SMTP_URL: 'smtp://me:hush@127.0.0.1:1' })).problems).toContain(
      'does not respond',
    )
  })

  test.runIf(process.geteuid?.() === 0)(
    'reports a data folder of another user that every user can read',
    async () => {
      const { DATA_DIR } = await emptyFolder()
      await chmod(DATA_DIR, 0o755)
      await chown(DATA_DIR, 1234, 1234)

      expect((await diagnose({ DATA_DIR })).problems).toContain(`chmod o-rwx ${DATA_DIR}`)
    },
  )

  test('reports an outbox that is not a folder', async () => {
    const environment = await emptyFolder()
    await writeFile(join(environment.DATA_DIR, 'outbox'), '')

    expect((await diagnose(environment)).problems).toMatch(/mail .*outbox cannot be used \(EEXIST\)/)
  })
})
