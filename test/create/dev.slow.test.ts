import { readFile, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createORPCClient } from '@orpc/client'
import { RPCLink } from '@orpc/client/fetch'
import { describe, expect, test } from 'vitest'

import { createAccess } from '../../engine/console/access.ts'
import type { ConsoleClient } from '../../engine/test/fixtures/console.ts'
import { createFetch } from '../../engine/test/fixtures/http.ts'
import { freePort } from '../../engine/dev/testing/postgres.ts'
import { createProject, occupy, signInByTerminal, startDevelopment } from '../fixtures/development.ts'

const ADVICE = 'another program uses this port. Stop the other program, or set PORT to another port.\n'

/** Tries to listen on a port like another program, until `isOver`. Returns the result of each attempt. */
async function tryToListen(port: number, isOver: () => boolean) {
  const attempts: string[] = []
  while (!isOver()) {
    const server = createServer().listen(port, '127.0.0.1')
    attempts.push(
      await once(server, 'listening').then(
        () => 'listens',
        (error: unknown) => String((error as NodeJS.ErrnoException).code),
      ),
    )
    if (server.listening) await once(server.close(), 'close')
    await setTimeout(2)
  }
  return attempts
}

describe('tallystick dev', { timeout: 180_000 }, () => {
  test('ends if another program uses the port of a project without a page', async () => {
    const port = await occupy('127.0.0.1')

    const { output, exit } = await startDevelopment(await createProject({ page: false }), {
      PORT: String(port),
    })

    expect(await exit).toEqual([1, null])
    expect(output()).toBe(`127.0.0.1:${port}: ${ADVICE}`)
  })

  test('ends if another program uses the port of the page', async () => {
    const port = await occupy('127.0.0.1')

    const { output, exit } = await startDevelopment(await createProject({ page: true }), {
      PORT: String(port),
    })

    expect(await exit).toEqual([1, null])
    expect(output()).toBe(`127.0.0.1:${port}: ${ADVICE}`)
  })

  test('forwards no request to another program that uses the port of the service', async () => {
    const port = await freePort()
    await occupy('127.0.0.1', port + 1)

    const { output, exit } = await startDevelopment(await createProject({ page: true }), {
      PORT: String(port),
    })

    expect(await exit).toEqual([1, null])
    expect(output()).toBe(
      `The service behind the page uses the port after PORT. 127.0.0.1:${port + 1}: ${ADVICE}`,
    )
  })

  test('keeps the port and the cookie of the console when the service starts again, and stores no secret', async () => {
    const project = await createProject({ page: false })
    const port = await freePort()
    const { output } = await startDevelopment(project, { PORT: String(port) })
    const findAddress = () => /Console +(http\S+)/.exec(output())?.[1]
    await expect.poll(findAddress, { timeout: 120_000 }).toBeDefined()
    const address = findAddress() ?? ''
    const { headers } = await fetch(address, { redirect: 'manual' })
    const cookie = headers.get('set-cookie')?.split(';', 1)[0] ?? ''
    const page = new URL(headers.get('location') ?? '', address)

    const source = join(project, 'src/app.ts')
    const hasStartedAgain = () => /\nchanged\n.*Console /s.test(output())
    await writeFile(source, `${await readFile(source, 'utf8')}\nconsole.log('changed')\n`)
    const attempts = await tryToListen(Number(page.port), hasStartedAgain)

    const { status } = await fetch(page, { headers: { cookie } })
    expect(new Set(attempts)).toEqual(new Set(['EADDRINUSE']))
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
        /create: os\.create\.handler\(.*\),\n/,
        `create: os.create.handler(() => {\n    ${failing}\n  }),\n`,
      ),
    )
    const port = await freePort()
    const { output } = await startDevelopment(project, { PORT: String(port) })
    const origin = `http://localhost:${port}`
    const call = createFetch({ origin })
    const cookie = await signInByTerminal(origin, output)

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

  test('shows the errors of a build in the console, until a build without errors', async () => {
    const project = await createProject({ page: false })
    const { output } = await startDevelopment(project, { PORT: String(await freePort()) })
    const findAddress = () => /Console +(http\S+)/.exec(output())?.[1]
    await expect.poll(findAddress, { timeout: 120_000 }).toBeDefined()
    const address = findAddress() ?? ''
    const { headers } = await fetch(address, { redirect: 'manual' })
    const cookie = headers.get('set-cookie')?.split(';', 1)[0] ?? ''
    const { origin, href } = new URL(headers.get('location') ?? '', address)
    const client: ConsoleClient = createORPCClient(
      new RPCLink({ url: `${href}rpc`, headers: { cookie, origin } }),
    )
    const listErrors = () => client.overview().then(({ buildErrors }) => buildErrors, String)
    const source = join(project, 'src/app.ts')
    const code = await readFile(source, 'utf8')

    await writeFile(source, `${code}\nconst broken = (\n`)

    await expect.poll(listErrors, { timeout: 120_000 }).toEqual([
      {
        message: expect.stringContaining('Unexpected'),
        position: expect.objectContaining({ file: source }),
        text: '',
      },
    ])
    await writeFile(source, `${code}\nconsole.log('repaired')\n`)
    await expect.poll(listErrors, { timeout: 120_000 }).toEqual([])
  })

  test('says which tables lack a migration, also after a change', async () => {
    const project = await createProject({ page: false })
    const { output } = await startDevelopment(project, { PORT: String(await freePort()) })
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

  test('applies a new migration, also after a mistake in its file', async () => {
    const project = await createProject({ page: false })
    const { output } = await startDevelopment(project, { PORT: String(await freePort()) })
    expect(output()).toContain('listens on')
    const migrations = join(project, 'db/migrations')
    const journal = join(migrations, 'meta/_journal.json')
    const { entries, ...rest } = JSON.parse(await readFile(journal, 'utf8')) as {
      entries: { when: number }[]
    }

    // In the order of drizzle-kit.
    const added = entries.map((entry) => ({ ...entry, idx: 1, when: entry.when + 1, tag: '0001_shelves' }))
    await writeFile(journal, JSON.stringify({ ...rest, entries: [...entries, ...added] }))
    const file = join(migrations, '0001_shelves.sql')
    await writeFile(file, 'create table shelves (id bigint')
    await expect.poll(output, { timeout: 120_000 }).toMatch(/syntax error.*The service has ended: code 1/s)

    await writeFile(file, 'create table shelves (id bigint)')

    await expect
      .poll(output, { timeout: 120_000 })
      .toMatch(/"0001_shelves"\S*"msg":"migrations applied".*listens on/s)
  })
})
