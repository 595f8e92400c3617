import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'

import { createFetch } from '../../engine/test/fixtures/http.ts'
import { freePort } from '../../engine/dev/testing/postgres.ts'
import { install, readManifest, run } from '../fixtures/installation.ts'
import { createNewerClone, edit, NEWER } from '../fixtures/newer-clone.ts'
import { commandOf, git } from '../fixtures/project.ts'
import { runCommand, waitUntilListening } from '../fixtures/programs.ts'

/** A table that a branch adds. */
const tableOf = (name: string) => `import { pgTable, text } from 'drizzle-orm/pg-core'

export const ${name} = pgTable('${name}', { id: text().primaryKey() })
`

/** The package managers: the program, the package with the program, and the words of the installation from the lock file. */
const managers = [
  { name: 'npm', program: 'npm', from: undefined, frozen: ['ci'] },
  { name: 'pnpm', program: 'pnpm', from: 'pnpm@12.21.0', frozen: ['install', '--frozen-lockfile'] },
  { name: 'Yarn', program: 'yarn', from: '@yarnpkg/cli-dist@4.18.1', frozen: ['install', '--immutable'] },
  { name: 'Bun', program: 'bun', from: 'bun@1.4.5', frozen: ['install', '--frozen-lockfile'] },
]

describe.each(managers)('a project with $name', { timeout: 600_000 }, ({ program, from, frozen }) => {
  let folder: string
  let project: string
  let environment: NodeJS.ProcessEnv

  /** Runs the package manager in the project. */
  const manager = (...words: string[]) => run(program, words, { cwd: project, env: environment })

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tallystick-manager-'))
    project = join(folder, 'lendery')
    const tools = join(folder, 'tools')
    await mkdir(tools)
    await writeFile(join(tools, 'package.json'), '{}')
    if (from) await install(tools, from)
    environment = {
      ...process.env,
      PATH: [join(tools, 'node_modules/.bin'), process.env.PATH].join(delimiter),
      // Yarn refuses in CI what changes its lock file.
      YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
    }
    expect(await runCommand({}, 'new', project, '--name', 'Lendery')).toMatchObject({ stderr: '' })
    // Yarn would install the newest Vite for Vitest, beside the Vite of the project.
    await edit(join(project, 'package.json'), (text) =>
      text.replace(/"devDependencies"[^]*("vite": "[^"]+")/, '"resolutions": { $1 },\n  $&'),
    )
    await manager('install')
    await git(project, 'init', '--quiet', '--initial-branch', 'main')
    await git(project, 'add', '.')
    await git(project, 'commit', '--quiet', '--message', 'new')
  }, 600_000)

  afterAll(() => rm(folder, { recursive: true, force: true }))

  /** Starts the built project. Returns the names of its applied migrations, which the log contains. */
  async function deploy() {
    await manager('run', 'build')
    const PORT = String(await freePort())
    const child = spawn(process.execPath, [commandOf(project), 'start'], {
      cwd: project,
      env: { PATH: process.env.PATH, PORT, DATA_DIR: join(folder, 'data') },
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const { output, exit } = await waitUntilListening(child)
    const call = createFetch({ origin: `http://localhost:${PORT}` })
    const statuses = [await call('GET', '/api/health/ready'), await call('GET', '/')]
    child.kill('SIGTERM')
    await exit
    expect(statuses.map(({ status }) => status)).toEqual([200, 200])
    return output()
  }

  /** Adds a table with its migration on a branch of main. */
  async function addTable(name: string) {
    await git(project, 'checkout', '--quiet', '-b', name, 'main')
    await writeFile(join(project, `db/${name}.ts`), tableOf(name))
    // The names of the files have the second, in which both branches must not write.
    await setTimeout(1000)
    await run(process.execPath, [commandOf(project), 'migration', '--name', name], { cwd: project })
    await git(project, 'add', '.')
    await git(project, 'commit', '--quiet', '--message', name)
  }

  test('passes its check and its tests', async () => {
    await manager('run', 'check')
    const { stdout } = await manager('run', 'test')

    expect(stdout).toContain('3 passed')
  })

  test('applies the migrations of two branches, of which the younger is deployed first', async () => {
    await addTable('books')
    await addTable('shelves')
    const first = await deploy()
    await git(project, 'checkout', '--quiet', 'main')
    await git(project, 'merge', '--quiet', 'shelves')
    // Both branches have added an entry at the end of the journal.
    await git(project, 'merge', '--quiet', 'books').catch(() => undefined)
    await manager('run', 'migration')
    await git(project, 'add', '.')
    await git(project, 'commit', '--quiet', '--message', 'books and shelves')
    await manager('run', 'check')
    const second = await deploy()

    expect(first).toContain('shelves')
    expect(first).not.toContain('books')
    expect(second).toContain('books')
  })

  test('is upgraded, and installs the newer engine from its lock file', async () => {
    const clone = join(folder, 'tallystick')
    await createNewerClone(clone, project)
    await edit(join(project, 'src/app.ts'), (text) => `${text}\nexport const own = 'Lends books.'\n`)

    const { stdout } = await run(process.execPath, [commandOf(project), 'upgrade', '--from', clone], {
      cwd: project,
      env: environment,
    })
    await rm(join(project, 'node_modules'), { recursive: true })
    await manager(...frozen)

    expect(stdout).toContain('The check succeeds.')
    expect(await readManifest(project, 'tallystick')).toMatchObject({ version: NEWER })
    expect(existsSync(join(project, 'node_modules/tallystick/dist/mark.txt'))).toBe(true)
    expect(await readFile(join(project, 'src/app.ts'), 'utf8')).toContain('Lends books.')
    await deploy()
  })
})
