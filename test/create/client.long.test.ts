import { spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

import { freePort } from '../../engine/dev/testing/postgres.ts'
import { checkArchive, compile, install, readManifest, run } from '../fixtures/installation.ts'
import { commandOf, createProject, git } from '../fixtures/project.ts'
import { waitUntilListening } from '../fixtures/programs.ts'

let folder: string
let project: string
/** The front end, in a folder of its own. */
let app: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tallystick-client-'))
  project = join(folder, 'lendery')
  app = await mkdtemp(join(folder, 'front end '))
  await createProject(project)
  await git(project, 'init', '--quiet')
  await git(project, 'add', '.')
  await git(project, 'commit', '--quiet', '--message', 'start')
  await writeFile(join(app, 'package.json'), '{ "type": "module" }')
}, 600_000)

afterAll(() => rm(folder, { recursive: true, force: true }))

/** Packs the client as a person does in the folder of the front end. Returns the name of the new archive. */
async function pack() {
  const before = await readdir(app)
  await run('npm', ['--prefix', project, 'run', 'pack:client'], { cwd: app })
  const [archive = ''] = (await readdir(app)).filter((file) => !before.includes(file))
  return archive
}

const use = `
import { createClient, isDefinedError, type Outputs, safe } from 'lendery-client'
import { contract } from 'lendery-client/contract'

const client = createClient(process.argv[2] ?? '')
const idea: Outputs['ideas']['create'] | undefined = undefined
const { error } = await safe(client.ideas.list())
console.log((await client.status.get()).status, error?.message, Object.keys(contract).includes('ideas'), idea)
// @ts-expect-error An unknown procedure.
export const unknown = () => client.ideas.burn()
// @ts-expect-error A missing field.
export const missing = () => client.ideas.create({})
export const remove = async (id: number) => {
  const { error } = await safe(client.ideas.delete({ id }))
  return isDefinedError(error) && error.code === 'NOT_FOUND' ? error.message : undefined
}
`

test('a front end in another repository uses the packed contract', { timeout: 600_000 }, async () => {
  const archive = await pack()
  await install(app, `./${archive}`, '@types/node@20.19.43')
  await writeFile(join(app, 'use.ts'), use)
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'ES2022',
    module: 'NodeNext',
    types: ['node'],
  }
  await writeFile(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }))

  expect(archive).toMatch(/^lendery-client-0\.1\.0-g[0-9a-f]{7}\.tgz$/)
  expect(await compile(app)).toBe('')
  await checkArchive(join(app, archive))
  const packages = (await readdir(join(app, 'node_modules'))).join()
  expect(packages).not.toMatch(/drizzle|better-auth|react|tallystick$/)

  const PORT = String(await freePort())
  const service = spawn(process.execPath, [commandOf(project), 'start'], {
    cwd: project,
    env: { PATH: process.env.PATH, PORT },
  })
  onTestFinished(() => void service.kill('SIGKILL'))
  await waitUntilListening(service)
  const { stdout } = await run(join(project, 'node_modules/.bin/esbuild'), [
    join(app, 'use.ts'),
    `--outfile=${join(app, 'use.js')}`,
  ]).then(() => run(process.execPath, [join(app, 'use.js'), `http://127.0.0.1:${PORT}`]))
  expect(stdout).toBe('ok Sign in first true undefined\n')
})

test('a changed contract is another version', { timeout: 600_000 }, async () => {
  const path = join(project, 'contract/ideas.ts')
  const code = await readFile(path, 'utf8')
  await writeFile(path, code.replace('title: z.string(),', 'title: z.string(), votes: z.int().optional(),'))
  onTestFinished(() => writeFile(path, code))

  const archive = await pack()
  await install(app, `./${archive}`)

  expect(archive).toMatch(/^lendery-client-0\.1\.0-g[0-9a-f]{7}\.d[0-9a-f]{8}\.tgz$/)
  expect(await readManifest(app, 'lendery-client')).toMatchObject({
    version: /-(.*)\.tgz$/.exec(archive.replace('lendery-client', ''))?.[1],
  })
  expect(await readFile(join(app, 'node_modules/lendery-client/dist/ideas.d.ts'), 'utf8')).toContain('votes')
})

test('a contract that needs Node is refused, with the place', { timeout: 600_000 }, async () => {
  const path = join(project, 'contract/ideas.ts')
  const code = await readFile(path, 'utf8')
  await writeFile(path, `${code}\nexport const home = process.env.HOME\n`)
  onTestFinished(() => writeFile(path, code))

  await expect(
    run(process.execPath, [commandOf(project), 'pack-client'], { cwd: project }),
  ).rejects.toMatchObject({
    stderr: expect.stringMatching(/needs more than a browser has:\n.*contract\/ideas\.ts/),
  })
})
