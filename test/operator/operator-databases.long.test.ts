import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'

import {
  emptyFolder,
  emptyServerDatabase,
  type Environment,
  run,
  serverDatabase,
  withService,
} from '../fixtures/operator.ts'
import { freePort } from '../../engine/dev/testing/postgres.ts'
import { install } from '../fixtures/installation.ts'
import { pathOf, startCommand } from '../fixtures/programs.ts'

/**
 * A folder with sample data and its backup. Tests copy the data, because creating an embedded database takes seconds.
 */
let prepared: string
const backup = () => join(prepared, 'backup')

beforeAll(async () => {
  prepared = await mkdtemp(join(tmpdir(), 'tallystick-operator-'))
  const environment = { DATA_DIR: join(prepared, 'data') }
  await run(environment, 'seed')
  await run(environment, 'backup', backup())
}, 240_000)

afterAll(() => rm(prepared, { recursive: true }))

async function copyTo(folder: string) {
  await cp(join(prepared, 'data'), folder, { recursive: true })
  return { DATA_DIR: folder }
}

const databaseWithoutTables = async () => {
  const { DATABASE_URL } = await emptyServerDatabase()
  return { DATABASE_URL }
}

const embeddedDatabase = async () => copyTo((await emptyFolder()).DATA_DIR)

async function seededServerDatabase() {
  const environment = await serverDatabase()
  await run(environment, 'seed')
  return environment
}

/** Returns the file names in a data folder, and the inode and modification time of the database folder. */
async function stateOf({ DATA_DIR = '' }: Environment) {
  const { ino, mtimeMs } = await stat(join(DATA_DIR, 'db'))
  return { ino, mtimeMs, files: await readdir(DATA_DIR) }
}

describe.each<[string, () => Promise<Environment>, () => Promise<Environment>]>([
  ['the embedded database', embeddedDatabase, emptyFolder],
  ['a server', seededServerDatabase, emptyServerDatabase],
])('on %s', { timeout: 300_000 }, (_, prepared, empty) => {
  test('migrate --check lists the migrations that an empty database lacks, and applies none', async () => {
    const environment = await empty()
    const names = ['0000_', '0001_', '0002_'].map((name) => expect.stringContaining(name) as string)
    const missing = {
      lines: expect.arrayContaining(names),
      problem: expect.stringContaining('Run: tallystick migrate'),
    }

    expect(await run(environment, 'migrate', '--check')).toMatchObject(missing)
    expect(await run(environment, 'migrate', '--check')).toMatchObject(missing)
  })

  test('doctor reports no problem of a database that is up to date', async () => {
    const { lines, problem } = await run(await prepared(), 'doctor')

    expect(problem).toBeUndefined()
    for (const subject of [
      'packages',
      'settings',
      'database    PostgreSQL 1',
      'migrations',
      'clock',
      'mail',
      'folder',
    ])
      expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^ok +${subject}`)))
  })

  test('seed adds a sample account with tasks, notes and shares, once', async () => {
    const environment = await prepared()

    const { text } = await run(environment, 'seed')

    expect(text).toContain('sign in as ada@example.com')
    await withService(environment, async (service) => {
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
      const shared = (await charles.notes.list()).notes.filter(({ mine }) => !mine)
      expect(shared.map(({ can }) => can.EDIT_NOTE).sort()).toEqual([false, true])
      expect(await ada.account.get()).toMatchObject({ name: 'Ada Lovelace', emailVerified: true })
    })
  })
})

test(
  'tallystick copy moves the data to a server, with which the service starts',
  { timeout: 300_000 },
  async () => {
    const environment = await embeddedDatabase()
    const onServer = { ...environment, ...(await databaseWithoutTables()) }
    const read = (settings: Environment) =>
      withService(settings, async (service) => {
        const [ada, charles] = [
          await service.person('ada@example.com'),
          await service.person('charles@example.com'),
        ]
        const { notes } = await charles.notes.list()
        return { account: await ada.account.get(), tasks: await ada.tasks.list({}), notes }
      })
    const before = await read(environment)

    const { problem } = await run(environment, 'copy', '--to', onServer.DATABASE_URL)

    expect(problem).toBeUndefined()
    const { account, tasks, notes } = await read(onServer)
    expect(account.id).toBe(before.account.id)
    expect(tasks).toEqual(before.tasks)
    expect(notes).toEqual(before.notes)
    // The sequences and the counters of the triggers continue.
    const { taskCount } = await withService(onServer, async (service) => {
      const ada = await service.person('ada@example.com')
      await ada.tasks.create({ taskTitle: 'After the copy' })
      return ada.tasks.list({})
    })
    expect(taskCount).toBe(before.tasks.taskCount + 1)
  },
)

test('data of an older PostgreSQL are read with an older PGlite', { timeout: 300_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tallystick-older-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'package.json'), '{}')
  await install(folder, 'pglite-17@npm:@electric-sql/pglite@0.4.6')
  const code =
    "const { PGlite } = require('pglite-17'); new PGlite('data/db').waitReady.then(() => process.exit())"
  await mkdir(join(folder, 'data'), { mode: 0o700 })
  execFileSync(process.execPath, ['-e', code], { cwd: folder })
  const { DATABASE_URL } = await databaseWithoutTables()
  const command = (...words: string[]) =>
    execFileSync(process.execPath, [pathOf('cli'), ...words], {
      cwd: folder,
      env: { PATH: process.env.PATH, DATA_DIR: 'data' },
      encoding: 'utf8',
    })

  command('seed')
  const copied = command('copy', '--to', DATABASE_URL)

  expect(await readFile(join(folder, 'data/db/PG_VERSION'), 'utf8')).toBe('17\n')
  expect(copied).toMatch(/^ +[1-9]\d* {2}\S*tasks$/m)
})

describe('tallystick backup and restore', { timeout: 300_000 }, () => {
  const tasks = (environment: Environment) =>
    withService(environment, async (service) => (await service.person('ada@example.com')).tasks.list({}))

  test('restore the whole database, and keep the previous one', async () => {
    const environment = await embeddedDatabase()
    await withService(environment, async (service) => (await service.person('ada@example.com')).tasks.reset())

    expect((await run(environment, 'restore', backup())).problem).toContain('--force')
    const { text } = await run(environment, 'restore', backup(), '--force')

    expect((await stat(backup())).mode & 0o777).toBe(0o600)
    expect(await tasks(environment)).toMatchObject({ taskCount: 5 })
    const previous = /is in (\S+),/.exec(text)?.[1] ?? ''
    expect(await readdir(previous)).toContain('PG_VERSION')
  })

  test('write to a pipe, to standard output and through a link, and leave pipe and link in place', async () => {
    const environment = await embeddedDatabase()
    const pathOfFile = (name: string) => join(environment.DATA_DIR, name)
    const [pipe, link, target] = [pathOfFile('pipe'), pathOfFile('link'), pathOfFile('target')]
    execFileSync('mkfifo', [pipe])
    await writeFile(target, 'old')
    await symlink(target, link)

    const [piped] = await Promise.all([readFile(pipe), run(environment, 'backup', pipe)])
    await run(environment, 'backup', link)
    const output = execFileSync(process.execPath, [pathOf('cli'), 'backup', '-'], {
      env: { PATH: process.env.PATH, ...environment },
      maxBuffer: 64 * 1024 * 1024,
    })

    expect((await lstat(pipe)).isFIFO()).toBe(true)
    expect((await lstat(link)).isSymbolicLink()).toBe(true)
    for (const content of [piped, output, await readFile(target)])
      expect(gunzipSync(content).includes('PG_VERSION')).toBe(true)
  })

  test('to standard output fails if the reader stops early', async () => {
    const child = spawn(process.execPath, [pathOf('cli'), 'backup', '-'], {
      env: { PATH: process.env.PATH, ...(await embeddedDatabase()) },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.stdout.once('data', () => child.stdout.destroy())
    const [code, errors] = await Promise.all([once(child, 'exit'), text(child.stderr)])

    expect(code).toEqual([1, null])
    expect(errors).toContain('EPIPE')
  })

  test('restore a text with a leading byte order mark', async () => {
    const environment = await embeddedDatabase()
    const [title, file] = ['\ufeffTitle', join(environment.DATA_DIR, 'own-backup')]
    await withService(environment, async (service) => {
      const ada = await service.person('ada@example.com')
      await ada.tasks.reset()
      await ada.tasks.create({ taskTitle: title })
    })

    await run(environment, 'backup', file)
    await run(environment, 'restore', file, '--force')

    expect((await tasks(environment)).tasks.map((task) => task.title)).toEqual([title])
  })

  test('restore a backup into an empty folder', async () => {
    const environment = await emptyFolder()

    const { lines } = await run(environment, 'restore', backup())

    expect(lines).toHaveLength(1)
    expect((await readdir(environment.DATA_DIR)).sort()).toEqual(['auth-secret', 'db', 'db.lock'])
  })

  describe('reject', () => {
    let environment: Environment

    // A rejected command does not change the folder, so all tests of this group use the same folder.
    beforeAll(async () => {
      environment = await copyTo(await mkdtemp(join(prepared, 'reject-')))
    })

    test.each([
      ['half of a backup', (content: Buffer) => content.subarray(0, content.length / 2)],
      ['a file that is not a backup', () => Buffer.from('nothing')],
      ['a compressed file that is not a backup', () => gzipSync('nothing')],
    ])('%s, and change nothing', async (_, damage) => {
      const file = join(environment.DATA_DIR ?? '', 'backup')
      await writeFile(file, damage(await readFile(backup())))
      const before = await stateOf(environment)

      expect((await run(environment, 'restore', file, '--force')).problem).toContain('no whole backup')

      expect(await stateOf(environment)).toEqual(before)
    })
  })

  test('reject a database that another process uses', async () => {
    const environment = await embeddedDatabase()
    const file = backup()
    const service = await startCommand({ ...environment, PORT: String(await freePort()) }, 'serve')

    for (const words of [['restore', file, '--force'], ['seed']])
      expect((await run(environment, ...words)).problem).toContain(
        'Another process uses the embedded database',
      )
    expect((await run(environment, 'doctor')).text).toMatch(/^ok +database +in use/m)
    service.child.kill('SIGTERM')
    expect(await service.exit).toEqual([0, null])
  })

  test('reach a service that uses the embedded database, through a socket of its user', async () => {
    const environment = await embeddedDatabase()
    const { DATA_DIR } = environment
    const socket = join(DATA_DIR, 'db.sock')
    const file = join(DATA_DIR, 'written-by-the-command')
    // A service that was killed leaves its socket.
    await writeFile(socket, '')
    const port = String(await freePort())
    const service = await startCommand(
      { ...environment, PORT: port, ADMIN_EMAILS: 'eve@example.com' },
      'serve',
    )

    expect((await run(environment, 'admin', 'grant', 'ada@example.com')).problem).toBeUndefined()
    expect((await run(environment, 'admin', 'list')).lines).toEqual([
      'ada@example.com  Ada Lovelace',
      'eve@example.com  (in ADMIN_EMAILS: administrator from the next sign-in)',
    ])
    expect((await run(environment, 'audit', '--limit', '1')).lines[0]).toContain('admin.set-role')
    expect((await run(environment, 'audit', '--limit', 'x')).problem).toContain('must be a whole number')
    expect((await run(environment, 'sessions', 'list', 'x@example.com')).problem).toContain('No account has')
    expect((await run(environment, 'backup', file)).problem).toBeUndefined()
    expect([(await stat(DATA_DIR)).mode & 0o777, (await stat(socket)).mode & 0o777]).toEqual([0o700, 0o600])

    service.child.kill('SIGTERM')
    expect(await service.exit).toEqual([0, null])
    expect(await readdir(DATA_DIR)).not.toContain('db.sock')
    const { DATA_DIR: other } = await emptyFolder()
    expect((await run({ DATA_DIR: other }, 'restore', file)).problem).toBeUndefined()
    expect((await run({ DATA_DIR: other }, 'admin', 'list')).lines).toEqual(['ada@example.com  Ada Lovelace'])
  })

  test('do not reach a service if the path of its folder is too long for a socket', async () => {
    const environment = await copyTo(join((await emptyFolder()).DATA_DIR, 'x'.repeat(100)))
    const service = await startCommand({ ...environment, PORT: String(await freePort()) }, 'serve')

    expect((await run(environment, 'admin', 'list')).problem).toContain('Another process uses')
    service.child.kill('SIGTERM')
    expect(await service.exit).toEqual([0, null])
    expect(service.output()).toContain('the path of DATA_DIR is too long for a socket')
  })

  test('name the PostgreSQL tool to use for a server, and a missing database or file', async () => {
    const server = await serverDatabase()
    const empty = await emptyFolder()

    expect((await run(server, 'backup', 'x')).problem).toMatch(/pg_dump/)
    expect((await run(server, 'restore', 'x')).problem).toMatch(/pg_restore/)
    expect((await run(empty, 'backup', 'x')).problem).toContain('There is no database in')
    expect((await run(empty, 'restore', join(empty.DATA_DIR, 'x'))).problem).toContain('ENOENT')
    expect(await readdir(empty.DATA_DIR)).toEqual(['auth-secret'])
  })
})
