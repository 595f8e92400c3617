import { Command } from 'commander'
import { eq } from 'drizzle-orm'
import { execFile, spawn } from 'node:child_process'
import { chmod, chown, cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import postgres from 'postgres'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'

import { sessions } from '../db/sessions.ts'
import { addOperatorCommands } from '../src/operator/commands.ts'
import { createTallystick } from '../src/testing.ts'
import { listening } from './child.ts'
import { databaseUrl, freePort } from './postgres.ts'
import { bearer, registerApp } from './oauth-app.ts'
import { newEmail, startService } from './service.ts'
import { listenForMail } from './smtp.ts'

type Environment = Record<string, string>

/** Runs a command in this process: its lines, and what it says is wrong. */
async function run(environment: Environment, ...words: string[]) {
  const lines: string[] = []
  const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined })
  addOperatorCommands(program, { environment, print: (line) => lines.push(line) })
  const problem = await program.parseAsync(words, { from: 'user' }).then(
    () => undefined,
    (error: unknown) => (error as Error).message,
  )
  return { lines, text: lines.join('\n'), problem }
}

/** Runs a command as a user does. */
const runAlone = (environment: Environment, ...words: string[]) =>
  promisify(execFile)(process.execPath, ['--import', 'tsx', 'src/cli/index.ts', ...words], {
    env: { PATH: process.env.PATH, ...environment },
  }).catch((error: unknown) => error as { code: number; stdout: string; stderr: string })

const admin = postgres(inject('postgres').url, { max: 1, onnotice: () => undefined })
let home: string

/** One embedded database is made, with a backup, and copied for each test: to make it takes seconds. */
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'tallystick-operator-'))
  await run(made(), 'seed')
  await run(made(), 'backup', good())
}, 120_000)

const made = () => ({ DATA_DIR: join(home, 'made') })
const good = () => join(home, 'backup')

afterAll(async () => {
  await rm(home, { recursive: true })
  await admin.end()
})

async function emptyFolder() {
  return { DATA_DIR: await mkdtemp(join(home, 'data-')) }
}

async function embedded() {
  const environment = await emptyFolder()
  await cp(join(home, 'made'), environment.DATA_DIR, { recursive: true })
  return environment
}

async function onServer(template = inject('postgres').template) {
  const name = `tallystick_operator_${crypto.randomUUID().replaceAll('-', '')}`
  await admin`create database ${admin(name)} template ${admin(template)}`
  onTestFinished(() => admin`drop database ${admin(name)} with (force)`.then(() => undefined))
  return { ...(await emptyFolder()), DATABASE_URL: databaseUrl(inject('postgres').url, name) }
}

async function onEmptyServer() {
  return onServer('template0')
}

const serverOf = ({ DATABASE_URL = '' }: Environment) => {
  const sql = postgres(DATABASE_URL, { max: 1, onnotice: () => undefined })
  onTestFinished(() => sql.end())
  return sql
}

/** The service of an environment, for a moment. */
async function during<Result>(
  environment: Environment,
  work: (service: Awaited<ReturnType<typeof createTallystick>>) => Promise<Result>,
) {
  const service = await createTallystick({ DATABASE_URL: '', ...environment })
  return work(service).finally(() => service.close())
}

describe.each([
  ['the embedded database', embedded, emptyFolder],
  ['a server', onServer, onEmptyServer],
])('on %s', { timeout: 60_000 }, (_, prepared, empty) => {
  test('migrate --check names what an empty database lacks, and changes nothing', async () => {
    const environment: Environment = await empty()
    const names = ['0000_', '0001_', '0002_'].map((name) => expect.stringContaining(name) as string)
    const lacking = {
      lines: expect.arrayContaining(names),
      problem: expect.stringContaining('Run: tallystick migrate'),
    }

    expect(await run(environment, 'migrate', '--check')).toMatchObject(lacking)
    expect(await run(environment, 'migrate', '--check')).toMatchObject(lacking)
  })

  test('doctor finds nothing wrong with a database that is up to date', async () => {
    const { lines, problem } = await run(await prepared(), 'doctor')

    expect(problem).toBeUndefined()
    for (const about of ['settings', 'database    PostgreSQL 1', 'migrations', 'clock', 'mail', 'folder'])
      expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^ok +${about}`)))
  })

  test('seed adds somebody who can sign in and has something of everything, once', async () => {
    const environment = await prepared()
    await run(environment, 'seed')

    const { text } = await run(environment, 'seed')

    expect(text).toContain('sign in as ada@example.com')
    await during(environment, async (service) => {
      const ada = await service.person('ada@example.com')
      const { tasks } = await ada.tasks.list({})
      expect(tasks).toHaveLength(5)
      expect(new Set(tasks.map(({ status }) => status)).size).toBe(3)
      const { notes } = await ada.notes.list()
      expect(notes.map(({ mine, sharedWith }) => [mine, sharedWith]).sort()).toEqual([
        [false, 0],
        [true, 0],
        [true, 1],
        [true, 1],
      ])
      const charles = await service.person('charles@example.com')
      const given = (await charles.notes.list()).notes.filter(({ mine }) => !mine)
      expect(given.map(({ can }) => can.EDIT_NOTE).sort()).toEqual([false, true])
      expect(await ada.account.get()).toMatchObject({ name: 'Ada Lovelace', emailVerified: true })
    })
  })
})

describe('admin', () => {
  test('grants, lists and revokes, and says who would become one again', async () => {
    const environment = await onServer()
    const settings = { ...environment, ADMIN_EMAILS: 'ada@example.com,later@example.com' }
    await run(environment, 'seed')

    expect(await run(environment, 'admin', 'grant', 'Ada@Example.com')).toMatchObject({ problem: undefined })
    expect((await run(environment, 'admin', 'list')).lines).toEqual(['ada@example.com  Ada Lovelace'])
    expect((await run(settings, 'admin', 'list')).text).toContain('later@example.com  (in ADMIN_EMAILS')

    expect((await run(settings, 'admin', 'revoke', 'ada@example.com')).text).toContain('from ADMIN_EMAILS')
    expect((await run(environment, 'admin', 'revoke', 'ada@example.com')).text).not.toContain('ADMIN_EMAILS')
    expect((await run(environment, 'admin', 'list')).lines).toEqual([])
  })

  test.each(['grant', 'revoke'])('%s knows nobody by an address without an account', async (verb) => {
    const { problem, lines } = await run(await onServer(), 'admin', verb, 'nobody@example.com')

    expect(problem).toContain('No account has the address nobody@example.com')
    expect(lines).toEqual([])
  })

  test('grants what the service goes by at once', async () => {
    const environment = await onServer()
    await during(environment, async (service) => {
      const cookie = await service.signIn('ada@example.com')
      const headers = new Headers({ cookie })
      const list = () => service.services.auth.api.listUsers({ headers, query: {} })
      await expect(list()).rejects.toThrow()

      await run(environment, 'admin', 'grant', 'ada@example.com')

      expect((await list()).total).toBe(1)
    })
  })
})

describe('sessions', () => {
  test('lists without tokens, and ends one or all of one person', async () => {
    const environment = await onServer()
    const tokens = await during(environment, async (service) => {
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

describe('migrate', () => {
  test('brings a database up to date, and says what it lacked', async () => {
    const environment = await onEmptyServer()

    const { lines } = await run(environment, 'migrate')

    expect(lines[0]).toMatch(/^Applied 0000_/)
    expect(await run(environment, 'migrate')).toMatchObject({ text: 'The database is up to date.' })
    expect(await run(environment, 'migrate', '--check')).toMatchObject({ problem: undefined })
  })

  test('names only what is missing', async () => {
    const environment = await onServer()
    await serverOf(environment)`delete from drizzle.__drizzle_migrations
      where created_at = (select max(created_at) from drizzle.__drizzle_migrations)`
    const last = (await readdir('db/migrations'))
      .filter((name) => name.endsWith('.sql'))
      .sort()
      .at(-1)

    expect((await run(environment, 'migrate', '--check')).lines).toEqual([last?.replace('.sql', '')])
  })

  test('has nothing to do with a database in memory', async () => {
    expect((await run({ ...(await emptyFolder()), DATABASE_URL: 'memory:' }, 'migrate')).problem).toContain(
      'in memory',
    )
  })
})

describe('seed', () => {
  const production = {
    NODE_ENV: 'production',
    BASE_URL: 'https://example.com',
    AUTH_SECRET: 'a'.repeat(32),
    SMTP_URL: 'smtp://127.0.0.1:1',
    MAIL_FROM: 'x@example.com',
  }

  test('stays away from production, unless it is forced', async () => {
    const environment = { ...(await onServer()), ...production }

    expect((await run(environment, 'seed')).problem).toContain('--force')
    expect((await run(environment, 'seed', 'me@example.com', '--force')).text).toContain('me@example.com has')
    expect((await run(environment, 'sessions', 'list', 'me@example.com')).problem).toBeUndefined()
    expect((await run(environment, 'seed', 'nobody', '--force')).problem).toContain(
      'nobody is not an e-mail address',
    )
  })
})

describe('openapi', () => {
  test('prints the document', async () => {
    const { text } = await run({}, 'openapi')

    expect(`${text}\n`).toBe(await readFile('openapi.json', 'utf8'))
  })
})

describe('backup and restore', { timeout: 60_000 }, () => {
  const tasks = (environment: Environment) =>
    during(environment, async (service) => (await service.person('ada@example.com')).tasks.list({}))

  test('bring all back, and keep what was there', async () => {
    const environment = await embedded()
    await during(environment, async (service) => (await service.person('ada@example.com')).tasks.reset())

    expect((await run(environment, 'restore', good())).problem).toContain('--force')
    const { text } = await run(environment, 'restore', good(), '--force')

    expect((await stat(good())).mode & 0o777).toBe(0o600)
    expect(await tasks(environment)).toMatchObject({ taskCount: 5 })
    const kept = /is in (\S+),/.exec(text)?.[1] ?? ''
    expect(await readdir(kept)).toContain('PG_VERSION')
  })

  test('fill a folder where nothing is', async () => {
    const environment = await emptyFolder()

    const { lines } = await run(environment, 'restore', good())

    expect(lines).toHaveLength(1)
    expect((await readdir(environment.DATA_DIR)).sort()).toEqual(['auth-secret', 'db', 'db.lock'])
  })

  test.each([
    ['half a backup', (whole: Buffer) => whole.subarray(0, whole.length / 2)],
    ['something else', () => Buffer.from('nothing')],
    ['something else that is packed', () => gzipSync('nothing')],
  ])('change nothing over %s', async (_, spoil) => {
    const environment = await embedded()
    const file = join(environment.DATA_DIR, 'backup')
    await writeFile(file, spoil(await readFile(good())))
    const there = () => stat(join(environment.DATA_DIR, 'db')).then(({ ino, mtimeMs }) => ({ ino, mtimeMs }))
    const before = [await there(), await readdir(environment.DATA_DIR)]

    expect((await run(environment, 'restore', file, '--force')).problem).toContain('no whole backup')

    expect([await there(), await readdir(environment.DATA_DIR)]).toEqual(before)
  })

  test('leave a database alone that another process has, and say so', async () => {
    const environment = await embedded()
    const file = good()
    const service = await serve({ ...environment, PORT: String(await freePort()) })

    for (const words of [
      ['backup', file],
      ['restore', file, '--force'],
      ['admin', 'list'],
    ])
      expect((await run(environment, ...words)).problem).toContain(
        'Another process uses the embedded database',
      )
    expect((await run(environment, 'doctor')).text).toMatch(/^ok +database +in use/m)
    service.child.kill('SIGTERM')
    expect(await service.ended).toEqual([0, null])
  })

  test('say what to use for a server, and where nothing is', async () => {
    const server = await onServer()
    const nothing = await emptyFolder()

    expect((await run(server, 'backup', 'x')).problem).toMatch(/pg_dump/)
    expect((await run(server, 'restore', 'x')).problem).toMatch(/pg_restore/)
    expect((await run(nothing, 'backup', 'x')).problem).toContain('There is no database in')
    expect((await run(nothing, 'restore', join(nothing.DATA_DIR, 'x'))).problem).toContain('ENOENT')
    expect(await readdir(nothing.DATA_DIR)).toEqual(['auth-secret'])
  })
})

describe('doctor', () => {
  const findings = async (environment: Environment) => {
    const { lines, problem } = await run({ ...(await emptyFolder()), ...environment }, 'doctor')
    return { problem, wrong: lines.filter((line) => line.startsWith('problem')).join('\n') }
  }

  test('names every mistake in the settings', async () => {
    const { wrong, problem } = await findings({
      PORT: 'x',
      AUTH_SECRET: 'hush',
      DATABASE_URL: 'mysql://a:hush@b',
    })

    expect(wrong).toMatch(/PORT.*\n.*DATABASE_URL.*\n.*AUTH_SECRET/)
    expect(wrong).not.toContain('hush')
    expect(problem).toBe('Problems: 3')
  })

  test.each([
    ['nobody answers at', 'postgres://me:hush@127.0.0.1:1/x', 'does not respond'],
    ['names no host', 'postgres://me:hu@sh@nowhere.invalid/x', 'DATABASE_URL: '],
    ['cannot be read', 'postgres://me:hu/sh@127.0.0.1/x', 'DATABASE_URL: '],
  ])('keeps the secret of an address that %s', async (_, url, advice) => {
    const { wrong } = await findings({ DATABASE_URL: url })

    expect(wrong).toContain(advice)
    expect(wrong).not.toMatch(/hu|sh@/)
  })

  test('tells what a server refuses', async () => {
    const { url } = inject('postgres')
    const stranger = new URL(url)
    stranger.username = 'stranger'

    expect((await findings({ DATABASE_URL: databaseUrl(url, 'nowhere') })).wrong).toContain('createdb')
    expect((await findings({ DATABASE_URL: stranger.href })).wrong).toContain(
      'rejected the user name or the password',
    )
  })

  test('sees migrations that are missing, an old server, and a clock that is off', async () => {
    const environment = await onEmptyServer()
    const sql = serverOf(environment)
    await sql`create function current_setting(text) returns text language sql
      return case $1 when 'server_version' then '14.9' else pg_catalog.current_setting($1) end`
    await sql`create function clock_timestamp() returns timestamptz language sql
      return pg_catalog.clock_timestamp() + interval '1 minute'`
    await sql.unsafe(
      `alter database ${new URL(environment.DATABASE_URL).pathname.slice(1)} set search_path = public, pg_catalog`,
    )

    const { wrong } = await findings(environment)

    expect(wrong).toContain('PostgreSQL 14.9')
    expect(wrong).toMatch(/0000_\w+, .* missing: run tallystick migrate/)
    expect(wrong).toMatch(/60\.\d s difference to the database server: synchronize both clocks/)
  })

  test('signs in to the mail server', async () => {
    const server = new SMTPServer({
      logger: false,
      allowInsecureAuth: true,
      disabledCommands: ['STARTTLS'],
      onAuth: ({ username, password }, _, done) => {
        if (password === 'right') done(null, { user: username })
        else done(new Error(`Not with ${password ?? ''}`))
      },
    })
    const at = await listenForMail(server)

    expect((await findings({ SMTP_URL: `smtp://me:right@${at}` })).problem).toBeUndefined()
    const { wrong } = await findings({ SMTP_URL: `smtp://me:hush@${at}` })
    expect(wrong).toContain('SMTP_URL: the server rejected the user name or the password')
    expect(wrong).not.toContain('hush')
    expect((await findings({ SMTP_URL: 'smtp://me:hush@127.0.0.1:1' })).wrong).toContain('does not respond')
  })

  test.runIf(process.geteuid?.() === 0)('sees a folder of another user that everybody may read', async () => {
    const open = await emptyFolder()
    await chmod(open.DATA_DIR, 0o755)
    await chown(open.DATA_DIR, 1234, 1234)

    expect((await findings(open)).wrong).toContain(`chmod o-rwx ${open.DATA_DIR}`)
  })

  test('sees a folder that is none', async () => {
    const taken = await emptyFolder()
    await writeFile(join(taken.DATA_DIR, 'outbox'), '')

    expect((await findings(taken)).wrong).toMatch(/mail .*outbox cannot be used \(EEXIST\)/)
  })
})

interface Served {
  child: ReturnType<typeof spawn>
  ended: Promise<unknown[]>
}

/** Starts the service by the command, and waits until it listens. */
async function serve(environment: Environment): Promise<Served> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli/index.ts', 'serve'], {
    env: { PATH: process.env.PATH, ...environment },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, ended: (await listening(child)).ended }
}

describe('the command', { timeout: 60_000 }, () => {
  test('serve runs as many processes as it is told, and stops them', async () => {
    const environment = await onServer()
    const port = String(await freePort())
    const { child, ended } = await serve({ ...environment, PORT: port, WORKERS: '2' })
    const services = new Set<string>()
    for (let asked = 0; asked < 20; asked++) {
      const response = await fetch(`http://127.0.0.1:${port}/api/status`, {
        headers: { connection: 'close' },
      })
      services.add(((await response.json()) as { service: string }).service)
    }

    child.kill('SIGTERM')

    expect(services.size).toBe(2)
    expect(await ended).toEqual([0, null])
  })

  test('fails with a line, and no more', async () => {
    const environment = await onServer()

    const outcomes = await Promise.all([
      runAlone(environment, 'admin', 'grant', 'x@example.com'),
      runAlone({ ...environment, PORT: 'x' }, 'serve'),
      runAlone({ ...environment, DATABASE_URL: 'postgres://a:hush@localhost:1/x' }, 'migrate'),
    ])

    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ code: 1, stdout: '' })
      expect(outcome.stderr).not.toMatch(/^ +at |hush/m)
    }
    expect(outcomes.map(({ stderr }) => stderr).join()).toMatch(/No account has.*PORT: .*ECONNREFUSED/s)
  })

  test('is steered by no name that an app gave itself', async () => {
    const service = await startService({ BASE_URL: 'http://127.0.0.1:9' })
    const email = newEmail()
    const app = await registerApp(service)
    expect(bearer(await app.obtainTokens(await service.signIn(email))).authorization).toMatch(/^Bearer ./)
    // As a release before stored it.
    await service.services.db
      .update(sessions)
      .set({ userAgent: 'An app\u001b[2J\u202e' })
      .where(eq(sessions.clientId, app.id))

    const { stdout } = await runAlone({ DATABASE_URL: service.databaseUrl }, 'sessions', 'list', email)

    expect(stdout).toContain('An app\u{fffd}[2J\u{fffd}')
  })

  test('helps callers and operators apart', async () => {
    const { stdout } = await runAlone({}, '--help')

    expect(stdout).toMatch(/Call a service:\n {2}login.*Run a service, .*:\n {2}serve/s)
  })
})
