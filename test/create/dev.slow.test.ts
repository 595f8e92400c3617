import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'

import { createAccess } from '../../engine/console/access.ts'
import { createFetch } from '../../engine/test/fixtures/http.ts'
import { cookieOf } from '../../engine/dev/testing/index.ts'
import { freePort } from '../../engine/dev/testing/postgres.ts'
import { waitUntilListening } from '../fixtures/programs.ts'

/** Creates a project with the packages of the repository. */
async function createProject({ page }: { page: boolean }) {
  const project = await mkdtemp(join(tmpdir(), 'tallystick-dev-'))
  onTestFinished(() => rm(project, { recursive: true }))
  await cp('engine/dev/create/template', project, { recursive: true })
  await symlink(resolve('node_modules'), join(project, 'node_modules'))
  if (!page) await rm(join(project, 'app'), { recursive: true })
  return project
}

/** Runs `tallystick dev` in a project until the end of the test. */
function startDevelopment(project: string, port: number) {
  const child = spawn(process.execPath, ['--import', 'tsx', resolve('engine/command.ts'), 'dev'], {
    cwd: project,
    env: { PATH: process.env.PATH, PORT: String(port) },
  })
  onTestFinished(async () => {
    if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit')
  })
  return waitUntilListening(child)
}

/** Listens on a port until the end of the test. Port 0 is a free port. Returns the port. */
async function occupy(host: string, port = 0) {
  const other = createServer().listen(port, host)
  onTestFinished(() => void other.close())
  await once(other, 'listening')
  return (other.address() as AddressInfo).port
}

const ADVICE = 'another program uses this port. Stop the other program, or set PORT to another port.\n'

describe('tallystick dev', { timeout: 180_000 }, () => {
  test('ends if another program uses the port of a project without a page', async () => {
    const port = await occupy('127.0.0.1')

    const { output, exit } = await startDevelopment(await createProject({ page: false }), port)

    expect(await exit).toEqual([1, null])
    expect(output()).toBe(`127.0.0.1:${port}: ${ADVICE}`)
  })

  test('ends if another program uses the port of the page', async () => {
    const port = await occupy('localhost')

    const { output, exit } = await startDevelopment(await createProject({ page: true }), port)

    expect(await exit).toEqual([1, null])
    expect(output()).toBe(`localhost:${port}: ${ADVICE}`)
  })

  test('forwards no request to another program that uses the port of the service', async () => {
    const port = await freePort()
    await occupy('127.0.0.1', port + 1)

    const { output, exit } = await startDevelopment(await createProject({ page: true }), port)

    expect(await exit).toEqual([1, null])
    expect(output()).toBe(
      `The service behind the page uses the port after PORT. 127.0.0.1:${port + 1}: ${ADVICE}`,
    )
  })

  test('keeps the console open when the service starts again, by a secret that no file contains', async () => {
    const project = await createProject({ page: false })
    const port = await freePort()
    const { output } = await startDevelopment(project, port)
    const findAddress = () => /Console +(http\S+)/.exec(output())?.[1]
    await expect.poll(findAddress, { timeout: 120_000 }).toBeDefined()
    const address = findAddress() ?? ''
    const { headers } = await fetch(address, { redirect: 'manual' })
    const cookie = headers.get('set-cookie')?.split(';', 1)[0] ?? ''
    const page = new URL(headers.get('location') ?? '', address)

    const source = join(project, 'src/app.ts')
    await writeFile(source, `${await readFile(source, 'utf8')}\nconsole.log('changed')\n`)
    await expect.poll(output, { timeout: 120_000 }).toMatch(/\nchanged\n.*Console /s)

    const { status } = await fetch(page, { headers: { cookie } })
    const secret = await readFile(join(project, '.data/auth-secret'), 'utf8')
    const folder = createAccess({ secret, port: Number(page.port) }).folder
    // Without a build, the console has no page: 404 with the cookie, 401 without.
    expect([200, 404]).toContain(status)
    expect(page.pathname).not.toBe(`${folder}/`)
  })

  test('shows the message, the position and the request of an error, and continues after a rejected promise', async () => {
    const project = await createProject({ page: false })
    const source = join(project, 'src/ideas.ts')
    const code = await readFile(source, 'utf8')
    const failing = `void Promise.reject(new Error('no code awaits this'))\n    throw new Error('card declined')`
    await writeFile(
      source,
      code.replace(
        /create: os\.create\.handler\(.*?\n {2}\),/s,
        `create: os.create.handler(() => {\n    ${failing}\n  }),`,
      ),
    )
    const port = await freePort()
    const { output } = await startDevelopment(project, port)
    const call = createFetch({ origin: `http://localhost:${port}` })
    const email = 'ada@example.com'
    await call('POST', '/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })
    const otp = /(\d{6}) is your sign-in code/.exec(output())?.[1]
    const { headers } = await call('POST', '/api/auth/sign-in/email-otp', { email, otp })
    const cookie = cookieOf(headers)

    const failed = await call('POST', '/api/ideas', { title: 'An idea' }, { cookie })

    const line =
      (await readFile(source, 'utf8')).split('\n').findIndex((text) => text.includes('card declined')) + 1
    expect(failed).toMatchObject({ status: 500, body: { message: 'Internal server error' } })
    await expect
      .poll(output)
      .toMatch(
        new RegExp(`card declined[^\\n]*src/ideas\\.ts:${line}|src/ideas\\.ts:${line}[^\\n]*card declined`),
      )
    await expect.poll(output).toMatch(/no code awaits this[^\n]*"path":"\/api\/ideas"/)
    expect(await call('GET', '/api/ideas', undefined, { cookie })).toMatchObject({ body: { ideas: [] } })
  })

  test('says which tables lack a migration, also after a change', async () => {
    const project = await createProject({ page: false })
    const { output } = await startDevelopment(project, await freePort())
    const source = join(project, 'db/ideas.ts')

    await writeFile(
      source,
      `${await readFile(source, 'utf8')}\nexport const others = pgTable('others', {})\n`,
    )

    await expect
      .poll(output, { timeout: 120_000 })
      .toContain(
        'The tables in db/ differ from the migrations: CREATE TABLE "others". Run: npm run migration\n',
      )
  })

  test('applies a new migration', async () => {
    const project = await createProject({ page: false })
    const { output } = await startDevelopment(project, await freePort())
    expect(output()).toContain('listens on')
    const migrations = join(project, 'db/migrations')
    const journal = join(migrations, 'meta/_journal.json')
    const { entries, ...rest } = JSON.parse(await readFile(journal, 'utf8')) as {
      entries: { when: number }[]
    }

    // In the order of drizzle-kit.
    const added = entries.map((entry) => ({ ...entry, idx: 1, when: entry.when + 1, tag: '0001_shelves' }))
    await writeFile(journal, JSON.stringify({ ...rest, entries: [...entries, ...added] }))
    await writeFile(join(migrations, '0001_shelves.sql'), 'create table shelves (id bigint)')

    await expect
      .poll(output, { timeout: 120_000 })
      .toMatch(/"0001_shelves"\S*"msg":"migrations applied".*listens on/s)
  })
})
