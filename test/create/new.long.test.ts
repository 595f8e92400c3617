import { spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { htmlEscape } from 'escape-goat'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'

import { type Manifest, requiredPeers } from '../../.config/manifests.ts'
import { accept, rpc } from '../../engine/test/fixtures/mcp-agent.ts'
import { createFetch } from '../../engine/test/fixtures/http.ts'
import { PATIENCE } from '../../engine/test/fixtures/patience.ts'
import { checkArchive, install, readManifest, run } from '../fixtures/installation.ts'
import { runCommand, temporaryDatabase, waitUntilListening } from '../fixtures/programs.ts'
import { cookieOf } from '../../engine/dev/testing/index.ts'
import { freePort } from '../../engine/dev/testing/postgres.ts'

/** The name shows mistakes in the escaping. */
const NAME = `Ada's "><b> \${1} \`2\``
const ID = 'ada-s-b-1-2'

/** The time for a build and a start, which take longer than other events on a busy machine. */
const RESTART = { timeout: 120_000 }

let folder: string
let project: string

beforeAll(async () => {
  // Vite, npm and the compiler work in a folder with such a path.
  folder = await mkdtemp(join(tmpdir(), 'tallystick new (ü) '))
  project = join(folder, 'lendery')
  expect(await runCommand({}, 'new', project, '--name', NAME)).toMatchObject({ stderr: '' })
  await install(project)
}, 600_000)

afterAll(() => rm(folder, { recursive: true, force: true }))

const COMMAND = 'node_modules/tallystick/dist/command.js'

const command = () => join(project, COMMAND)

/** Starts the project as `npm start` does. Returns its origin. */
async function start(environment: Record<string, string>, cwd = project) {
  const PORT = String(await freePort())
  const child = spawn(process.execPath, [join(cwd, COMMAND), 'start'], {
    cwd,
    env: { PATH: process.env.PATH, PORT, ...environment },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const { output } = await waitUntilListening(child)
  expect(output()).toContain(`${NAME} listens on`)
  return `http://localhost:${PORT}`
}

/** Returns the code in the e-mail to an address, from the outbox of the project. */
async function codeFor(email: string, dataFolder: string) {
  const outbox = join(dataFolder, 'outbox')
  const files = (await readdir(outbox).catch(() => [])).filter((file) => file.endsWith('.eml'))
  const letters = await Promise.all(files.map((file) => readFile(join(outbox, file), 'utf8')))
  return /^Subject: (\d{6})/m.exec(letters.find((letter) => letter.includes(email)) ?? '')?.[1]
}

async function signIn(origin: string, email: string, dataFolder: string) {
  const call = createFetch({ origin })
  await call('POST', '/api/auth/email-otp/send-verification-otp', { email, type: 'sign-in' })
  const otp = await vi.waitUntil(() => codeFor(email, dataFolder), PATIENCE)
  const { headers } = await call('POST', '/api/auth/sign-in/email-otp', { email, otp })
  return cookieOf(headers)
}

/** Creates a sample, and reads the list over REST and as a tool of agents. */
async function useProject(environment: Record<string, string>) {
  const DATA_DIR = await mkdtemp(join(folder, 'data-'))
  const origin = await start({ DATA_DIR, ...environment })
  const call = createFetch({ origin })
  const cookie = await signIn(origin, 'ada@example.com', DATA_DIR)
  const idea = { title: 'An example' }
  const created = await call('POST', '/api/ideas', idea, { cookie })
  const listed = await call('GET', '/api/ideas', undefined, { cookie })
  const token = await call(
    'POST',
    '/api/tokens',
    { label: 'a', scopes: ['read'], audience: 'mcp', days: 1 },
    { cookie },
  )
  const { token: bearer } = token.body as { token: string }
  const tools = await call('POST', '/mcp', rpc('tools/list'), { authorization: `Bearer ${bearer}`, accept })
  expect(created.body).toMatchObject(idea)
  expect(listed.body).toEqual({ ideas: [created.body] })
  expect(cookie).toMatch(new RegExp(`^${ID}\\.session_token=`))
  expect(JSON.stringify(tools.body)).toContain('"ideas_list"')
  return call
}

describe('a new project', { timeout: 300_000 }, () => {
  test('has one copy of each package that an application shares with the engine', async () => {
    const lock = JSON.parse(await readFile(join(project, 'package-lock.json'), 'utf8')) as {
      packages: object
    }
    const manifest = (await readManifest(project, 'tallystick')) as Manifest
    const required = Object.keys(requiredPeers(manifest))
    const shared = [...required, '@orpc/client', '@orpc/shared', '@opentelemetry/api']
    const copies = (name: string) =>
      Object.keys(lock.packages).filter((path) => path.endsWith(`node_modules/${name}`))

    for (const name of shared) expect(copies(name)).toEqual([`node_modules/${name}`])
    // The engine contains its own copy.
    expect(copies('better-auth')).toEqual([])
    // Only a project with jobs, or with files in a bucket, installs these packages.
    expect(copies('pg-boss')).toEqual([])
    expect(copies('@aws-sdk/client-s3')).toEqual([])
  })

  test('has archives without mistakes', async () => {
    const archives = (await readdir(join(project, 'vendor'))).filter((file) => file.endsWith('.tgz'))

    expect(archives).toHaveLength(3)
    for (const archive of archives) await checkArchive(join(project, 'vendor', archive))
  })

  test('has a version of the engine that names the build', async () => {
    const { version } = (await readManifest(project, 'tallystick')) as { version: string }
    const contract = await readManifest(project, 'tallystick-contract')

    expect(version).toMatch(/^\d+\.\d+\.\d+-(g[0-9a-f]{7,}(\.d[0-9a-f]{8})?|d[0-9a-f]{8})$/)
    expect(contract).toMatchObject({ version })
    expect(await readManifest(project, 'tallystick')).toMatchObject({
      peerDependencies: { 'tallystick-contract': version },
    })
  })

  test('starts with an embedded database, and shows its name and its page', async () => {
    const call = await useProject({})

    const home = await call('GET', '/')
    const document = await call('GET', '/api/openapi.json')
    const reference = await call('GET', '/docs')
    const described = await call('GET', '/docs/reference.json')

    const page = String(home.body)
    const script = await call('GET', /src="([^"]*)"/.exec(page)?.[1] ?? '')
    const view = await call('GET', '/ideas')
    const absent = await call('GET', '/nothing', undefined, { accept: 'text/html' })

    expect(page).toContain(`<title>${htmlEscape(NAME)}</title>`)
    expect(script).toMatchObject({ status: 200, body: expect.stringContaining('addIdea') })
    expect(view.body).toBe(page)
    expect(absent.status).toBe(404)
    expect(document.body).toMatchObject({ info: { title: NAME } })
    expect(reference.status).toBe(200)
    expect(described.body).toMatchObject({ info: { title: NAME } })
  })

  test('starts in a folder with # in its path, where only the development page is refused', async () => {
    const other = join(folder, 'c# 100%')
    await cp(project, other, { recursive: true, verbatimSymlinks: true })

    const origin = await start({ DATA_DIR: join(other, '.data') }, other)

    const page = await fetch(origin).then((response) => response.text())
    expect(page).toContain(`<title>${htmlEscape(NAME)}</title>`)
    await expect(run(process.execPath, [join(other, COMMAND), 'dev'], { cwd: other })).rejects.toMatchObject({
      stderr: expect.stringContaining(
        'Rename the folder, or start the service without hot reload: npm start',
      ),
    })
  })

  test('answers the path of a view with parameters with the page', async () => {
    const views = join(project, 'app/views.ts')
    const idea = join(project, 'app/views/idea.tsx')
    const code = await readFile(views, 'utf8')
    onTestFinished(async () => {
      await writeFile(views, code)
      await rm(idea)
    })
    await writeFile(
      idea,
      "import { view } from 'tallystick-dev/page'\n" +
        "export const idea = view({ path: '/ideas/{id}', title: 'home', access: 'public', Content: Idea })\n" +
        'function Idea({ id }: { id: string }) {\n  return <p>{id}</p>\n}\n',
    )
    await writeFile(
      views,
      `import { idea } from './views/idea.tsx'\n${code.replace('  ideas,\n', '  ideas,\n  idea,\n')}`,
    )
    const call = createFetch({ origin: await start({ DATA_DIR: await mkdtemp(join(folder, 'data-')) }) })

    const home = await call('GET', '/')
    const one = await call('GET', '/ideas/7')

    expect(one).toMatchObject({ status: 200, body: home.body })
    expect(await call('POST', '/ideas/7')).toMatchObject({ status: 404 })
    expect(await call('GET', '/ideas/')).toMatchObject({ status: 404 })
    expect(await call('GET', '/ideas/7/more')).toMatchObject({ status: 404 })
    expect(await call('GET', '/api/ideas')).toMatchObject({ status: 401 })
  })

  test('starts with a PostgreSQL server, over the patched driver', async () => {
    await useProject({ DATABASE_URL: await temporaryDatabase('template0') })
  })

  test('starts again after a change, and continues after a mistake', async () => {
    const PORT = String(await freePort())
    const DATA_DIR = await mkdtemp(join(folder, 'data-'))
    const child = spawn(process.execPath, [command(), 'dev'], {
      cwd: project,
      env: { PATH: process.env.PATH, PORT, DATA_DIR, LOG_LEVEL: 'silent' },
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const { output, exit } = await waitUntilListening(child)
    const file = join(project, 'src/app.ts')
    const code = await readFile(file, 'utf8')
    onTestFinished(() => writeFile(file, code))
    /** Returns the text of an answer. Empty while the service starts again. */
    const read = (path: string) =>
      fetch(`http://localhost:${PORT}${path}`).then(
        (response) => response.text(),
        () => '',
      )
    const waitFor = (find: () => string | Promise<string>, text: string) =>
      expect.poll(find, RESTART).toContain(text)

    await writeFile(file, code.replace('The API of', 'The new API of'))
    await waitFor(() => read('/api/openapi.json'), 'The new API of')
    await writeFile(file, `${code}\nmistake here`)
    await waitFor(output, 'ERROR')
    await waitFor(() => read('/api/status'), '"ok"')
    child.kill('SIGTERM')

    expect(await exit).toEqual([0, null])
  })

  test('has the other commands, which build the project first', async () => {
    const words = (...given: string[]) => run(process.execPath, [command(), ...given], { cwd: project })

    expect((await words('permissions')).stdout).toBeDefined()
    expect((await words('--help')).stdout).toMatch(
      /Call a service:.*Develop a project, in its folder:\n {2}dev/s,
    )
    await expect(run(process.execPath, [command(), 'start'], { cwd: folder })).rejects.toMatchObject({
      stderr: expect.stringContaining('There is no src/app.ts'),
    })
  })

  // The test of docs/your-own-backend.md runs the tests of a project.
  test('compiles with a new resource', async () => {
    const { stdout } = await run(process.execPath, [command(), 'add', 'book-loans'], { cwd: project })

    for (const part of [project, join(project, 'app')])
      await run(resolve('node_modules/.bin/tsc'), ['-p', part])

    expect(stdout).toMatch(/Created db.migrations.\d{14}_add_book_loans\.sql\n.*Changed src.app\.ts\n/s)
  })

  test('compiles with TypeScript 7, which refuses an unknown topic too', async () => {
    const tools = await mkdtemp(join(folder, 'typescript-'))
    await writeFile(join(tools, 'package.json'), '{}')
    await install(tools, 'typescript@7.0.2')
    const view = join(project, 'app/views/ideas.tsx')
    const code = await readFile(view, 'utf8')
    onTestFinished(() => writeFile(view, code))
    const compile = (part: string) => run(join(tools, 'node_modules/.bin/tsc'), ['-p', join(project, part)])

    for (const part of ['.', 'app']) await compile(part)
    await writeFile(view, code.replace("topics: ['ideas']", "topics: ['nonsense']"))

    await expect(compile('app')).rejects.toMatchObject({
      stdout: expect.stringContaining(`Type '"nonsense"' is not assignable`),
    })
  })

  test('stays as it is if the migration of a new resource fails', async () => {
    const list = async () =>
      (await readdir(project, { recursive: true })).filter((file) => !file.startsWith('node_modules'))
    const config = join(project, 'db/drizzle.config.ts')
    const [before, code] = [await list(), await readFile(config, 'utf8')]
    await writeFile(config, 'mistake here')

    const adding = run(process.execPath, [command(), 'add', 'members'], { cwd: project })

    await expect(adding).rejects.toMatchObject({ stderr: expect.stringContaining('drizzle-kit could not') })
    await writeFile(config, code)
    expect(await list()).toEqual(before)
    expect(await readFile(join(project, 'src/app.ts'), 'utf8')).not.toContain('members')
  })

  test('is also a source of projects: --bare has no sample, and compiles', async () => {
    const bare = join(folder, 'bare')
    await run(process.execPath, [command(), 'new', 'bare', '--bare'], { cwd: folder })
    await symlink(join(project, 'node_modules'), join(bare, 'node_modules'))

    for (const part of [bare, join(bare, 'app')]) await run(resolve('node_modules/.bin/tsc'), ['-p', part])

    expect(await readdir(join(bare, 'vendor'))).toHaveLength(4)
  })

  test('is written beside the files of a new repository, and the printed command leads there', async () => {
    const own = { 'README.md': '# Mine\n', LICENSE: 'MIT\n', '.vscode/settings.json': '{}\n' }
    const repository = join(folder, "2048 (Ada's) #ü")
    await mkdir(join(repository, '.vscode'), { recursive: true })
    for (const [file, text] of Object.entries(own)) await writeFile(join(repository, file), text)
    await run('git', ['init', '--quiet'], { cwd: repository })

    const created = await run(process.execPath, [command(), 'new', repository], { cwd: folder })

    for (const [file, text] of Object.entries(own))
      expect(await readFile(join(repository, file), 'utf8')).toBe(text)
    expect(JSON.parse(await readFile(join(repository, 'package.json'), 'utf8'))).toMatchObject({
      name: 'app-2048-ada-s',
    })
    expect(created.stdout).toMatch(
      /^Packing tallystick \(1 of 3\)…\n.*\nPacking tallystick-dev \(3 of 3\)…\nCreated 2048 /,
    )
    const [change = ''] = /^ {2}cd .*$/m.exec(created.stdout) ?? []
    const { stdout } = await run('bash', ['-c', `${change} && pwd && ls src/app.ts`], { cwd: folder })
    expect(stdout).toBe(`${repository}\nsrc/app.ts\n`)
  })

  test('needs npm in PATH, which the message says', async () => {
    const PATH = await mkdtemp(join(folder, 'empty-'))

    expect(await runCommand({ PATH }, 'new', join(folder, 'without-npm'))).toMatchObject({
      code: 1,
      stderr: 'npm is not in PATH, and packs the packages. Install npm, which is a part of Node.\n',
    })
    // Without npm, `add` works.
    const { stdout } = await run(process.execPath, [command(), 'add', 'members'], {
      cwd: project,
      env: { PATH },
    })
    expect(stdout).toContain('_add_members.sql')
  })

  test('is not written to a folder with files', async () => {
    await mkdir(join(folder, 'full/a'), { recursive: true })

    expect(await runCommand({}, 'new', join(folder, 'full'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not empty'),
    })
  })
})
