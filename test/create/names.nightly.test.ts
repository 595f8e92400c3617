import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { execFile } from 'node:child_process'
import { expect, onTestFinished, test } from 'vitest'

import { findParent, type Kind } from '../../engine/dev/create/resources/parents.ts'
import { planResource } from '../../engine/dev/create/resources/plan.ts'
import { install, run } from '../fixtures/installation.ts'
import { runCommand } from '../fixtures/programs.ts'

const template = 'engine/dev/create/template'

/** Nouns of applications, nouns with irregular plurals, and nouns with another meaning in the code of the template. */
const nouns =
  'addresses aliases analyses articles books buses calls cases categories children classes contracts cookies counts criteria customers data dates definitions descriptions documents engines entries errors events exports fields forms heroes inputs invoices keys leaves lists maps matches messages movies names news options orders outputs pages parts people photos pieces procedures promises queries quizzes records references refs refreshes results rows selects series services shelves statuses strings tables tasks tests texts tickets times tools topics types updates values views wolves yields'.split(
    ' ',
  )

/** Creates a project with links to the packages of the repository. */
function createProject() {
  const folder = mkdtempSync(join(tmpdir(), 'tallystick-names-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true })
  })
  cpSync(template, folder, { recursive: true })
  mkdirSync(join(folder, 'node_modules'))
  for (const name of readdirSync('node_modules').filter((each) => !each.startsWith('.')))
    symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name))
  return folder
}

/** Returns what the compiler says about the files of the project. The packages are links to the sources of the engine. */
async function compile(folder: string, config: string) {
  const program = resolve('node_modules/.bin/tsc')
  const options = { cwd: folder, maxBuffer: 2 ** 26 }
  const { stdout } = await promisify(execFile)(program, ['-p', config], options).catch(
    (error: unknown) => error as { stdout: string },
  )
  return stdout.split('\n').filter((line) => /^(app|contract|db|src|test)\//.test(line))
}

/** Names that the code of the template needs for something else, or whose singular is irregular. */
const difficult = ['people', 'news', 'orders', 'pages', 'tests', 'statuses', 'keys']

test('resources with difficult names pass the tests of their project', { timeout: 900_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tallystick-names-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const project = join(folder, 'lendery')
  const runIn = (...[program = '', ...words]: string[]) =>
    run(program, words, { cwd: project, env: { ...process.env, TEST_TRANSPORT: 'over REST' } })
  await runCommand({}, 'new', project)
  await install(project)

  for (const name of difficult) await runIn('npx', '--no-install', 'tallystick', 'add', name)

  await runIn('npm', 'run', 'check')
  const { stdout } = await runIn('npx', '--no-install', 'vitest', 'run')
  expect(stdout).toMatch(/Test Files .*10 passed/)
})

/** Each resource of a kind: with an owner, shared, or within the resource before. */
const kinds: [title: string, kindOf: (folder: string, before: string | undefined) => Kind][] = [
  ['with an owner', () => ({ type: 'own' })],
  ['that people share', () => ({ type: 'shared' })],
  ['within an own resource', (folder) => ({ type: 'within', parent: findParent(folder, 'ideas') })],
  [
    'within each other',
    (folder, before) =>
      before === undefined ? { type: 'shared' } : { type: 'within', parent: findParent(folder, before) },
  ],
]

test.each(kinds)('resources %s compile with any of many names', { timeout: 300_000 }, async (_, kindOf) => {
  const folder = createProject()
  let before: string | undefined
  // `live.watch` has a field `topics`, so no topic with an input has this name.
  for (const [index, name] of nouns.filter((each) => each !== 'topics').entries()) {
    const kind = kindOf(folder, index % 3 === 0 ? undefined : before)
    before = name
    const { created, indexes } = planResource(folder, template, { name, kind, hasPage: true })
    for (const [file, content] of created) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), content)
    }
    for (const { file, content = '' } of indexes) writeFileSync(join(folder, file), content)
  }

  for (const config of ['.', 'app']) expect(await compile(folder, config)).toEqual([])
  expect(nouns.length).toBeGreaterThan(60)
})
