import { execFile } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import pino from 'pino'
import { describe, expect, onTestFinished, test, vi } from 'vitest'

import { start } from '../../db/connection/embedded.ts'
import { makeContentsPrivate, makePrivate } from '../../db/connection/private.ts'
import { createMailer } from '../../identity/mail.ts'
import { readSettings } from '../fixtures/settings.ts'

const run = promisify(execFile)

const program = `
  import { serve } from 'tallystick/serve'
  import { app } from './engine/test/library/app.ts'
  await serve(app, process.env)
`

/** Runs code of the engine as a process. The environment is PATH and `environment`. */
const runCode = (
  code: string,
  environment: Record<string, string>,
  options: { uid?: number; gid?: number } = {},
) =>
  run(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
    env: { PATH: process.env.PATH, ...environment },
    ...options,
  })

async function makeFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'tallystick-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

/** Returns the file modes of a folder and of all files and folders in it. */
async function modesOf(folder: string) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory())
  const files = entries.filter((entry) => entry.isFile())
  const modes = (found: typeof entries) =>
    Promise.all(found.map(({ parentPath, name }) => modeOf(join(parentPath, name))))
  return {
    folders: [...new Set([await modeOf(folder), ...(await modes(folders))])],
    files: [...new Set(await modes(files))],
  }
}

const PRIVATE = { folders: ['700'], files: ['600'] }

describe('a folder of data', () => {
  test('becomes private with all of its contents if it already exists', async () => {
    const folder = await makeFolder()
    await mkdir(join(folder, 'inner/deep'), { recursive: true })
    await writeFile(join(folder, 'inner/deep/file'), '')
    for (const path of ['', 'inner', 'inner/deep', 'inner/deep/file']) await chmod(join(folder, path), 0o777)

    makeContentsPrivate(folder)

    expect(await modesOf(folder)).toEqual(PRIVATE)
  })

  test('keeps the mode of the targets of symbolic links in it', async () => {
    const [folder, outside] = [await makeFolder(), await makeFolder()]
    await writeFile(join(outside, 'file'), '')
    await chmod(join(outside, 'file'), 0o644)
    await symlink(outside, join(folder, 'link'))

    makeContentsPrivate(folder)

    expect(await modeOf(join(outside, 'file'))).toBe('644')
  })

  test('has a private secret, also if the folder and the secret already exist', async () => {
    const folder = join(await makeFolder(), 'data')
    await mkdir(folder)
    await writeFile(join(folder, 'auth-secret'), 's'.repeat(64))
    for (const path of ['', 'auth-secret']) await chmod(join(folder, path), path ? 0o644 : 0o755)

    expect(readSettings({ DATA_DIR: folder }).authSecret).toBe('s'.repeat(64))

    expect(await modesOf(folder)).toEqual(PRIVATE)
  })

  // better-auth only warns about a short secret, and replaces an empty secret with a default from its public source
  // code.
  test.each(['', 's'.repeat(31)])('is rejected if its secret is too short: %j', async (secret) => {
    const folder = await makeFolder()
    await writeFile(join(folder, 'auth-secret'), secret)

    expect(() => readSettings({ DATA_DIR: folder })).toThrow(
      `${join(folder, 'auth-secret')} has fewer than 32 characters. Delete the file`,
    )
  })

  test('has a private outbox', async () => {
    const folder = await makeFolder()
    const settings = readSettings({ DATA_DIR: folder })
    await mkdir(settings.outbox)
    await writeFile(join(settings.outbox, 'old.eml'), '')
    await chmod(settings.outbox, 0o755)
    await chmod(join(settings.outbox, 'old.eml'), 0o644)

    await createMailer(
      settings,
      pino({ level: 'silent' }),
    )({ to: 'a@example.com', subject: '', text: '', html: '' })

    expect(await modesOf(folder)).toEqual(PRIVATE)
    expect(await readdir(settings.outbox)).toHaveLength(2)
  })

  test(
    'has a private database, including files that PostgreSQL creates later',
    { timeout: 180_000 },
    async () => {
      const folder = join(await makeFolder(), 'data/db')
      const first = await start(folder)
      await first.close()
      await run('chmod', ['-R', 'go+rX', folder])

      const { client, close } = await start(folder)
      await client.exec('create table later (id int); insert into later values (1); checkpoint')
      await close()

      expect(await modesOf(join(folder, '..'))).toEqual(PRIVATE)
    },
  )
})

test.each(['file', 'file/inner', '/proc/tallystick', '/proc/tallystick/inner'])(
  'a folder that cannot be created ends the start immediately, with its name: %s',
  { timeout: 60_000 },
  async (path) => {
    const parent = await makeFolder()
    await writeFile(join(parent, 'file'), '')
    const folder = resolve(parent, path)
    const environment = { DATA_DIR: folder, PORT: '0' }

    await expect(runCode(program, environment)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        `^DATA_DIR: the folder ${folder} cannot be created \\(E\\w+\\)\n$`,
      ) as string,
    })
  },
)

/** The id of a user who owns none of the folders. */
const NOBODY = 65_534

describe.runIf(process.geteuid?.() === 0)('a folder that another user owns', () => {
  async function foreign(mode: number) {
    const folder = await makeFolder()
    await chown(folder, 1234, process.getegid?.() ?? 0)
    await chmod(folder, mode)
    return folder
  }

  const exposureOf = (folder: string) =>
    `Every user of this machine has access to ${folder}, which belongs to user 1234, and the service runs as user 0. As user 1234 or as root, run chmod o-rwx ${folder}, or set DATA_DIR to a folder that belongs to user 0.`

  test.each([0o755, 0o707, 0o701, 0o777])('is rejected if every user has access: %o', async (mode) => {
    const folder = await foreign(mode)

    expect(() => {
      makePrivate(folder, 0o700)
    }).toThrow(exposureOf(folder))
    expect(await modeOf(folder)).toBe(mode.toString(8))
  })

  test.each([0o770, 0o750])('is used with a warning if its group has access: %o', async (mode) => {
    const folder = await foreign(mode)
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve))

    makePrivate(folder, 0o700)

    expect((await warned).message).toContain(`has access to ${folder}, which this process does not own`)
    expect(await modeOf(folder)).toBe(mode.toString(8))
  })

  test('is used with one warning for all files of the same group', async () => {
    const folder = await foreign(0o770)
    for (const name of ['one', 'two']) {
      await writeFile(join(folder, name), '')
      await chown(join(folder, name), 1234, process.getegid?.() ?? 0)
      await chmod(join(folder, name), 0o660)
    }
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    onTestFinished(() => {
      warn.mockRestore()
    })

    makeContentsPrivate(folder)

    expect(warn.mock.calls).toEqual([[expect.stringContaining(`has access to ${folder}, which`)]])
    expect(await modeOf(join(folder, 'one'))).toBe('660')
  })

  test('stops the start of the service with a message, without a stack', { timeout: 180_000 }, async () => {
    const folder = await foreign(0o755)
    const child = runCode(program, { DATA_DIR: folder, DATABASE_URL: 'memory:', PORT: '0' })

    await expect(child).rejects.toMatchObject({
      code: 1,
      stderr: `${exposureOf(folder)}\n`,
    })
  })

  test('can be used by a process that is not root through its group', { timeout: 180_000 }, async () => {
    const folder = await makeFolder()
    await chown(folder, 1234, NOBODY)
    await chmod(folder, 0o770)
    const script = `import { readSettings } from './engine/settings/settings.ts'; readSettings({ DATA_DIR: ${JSON.stringify(folder)} }, { id: '', name: '', rateLimits: new Map() })`

    await runCode(script, { TSX_DISABLE_CACHE: '1' }, { uid: NOBODY, gid: NOBODY })

    const file = await stat(join(folder, 'auth-secret'))
    expect([file.uid, (file.mode & 0o777).toString(8)]).toEqual([NOBODY, '600'])
    expect(await modeOf(folder)).toBe('770')
  })
})
