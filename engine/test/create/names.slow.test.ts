import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { execFile } from 'node:child_process'
import { expect, onTestFinished, test } from 'vitest'

import { planResource } from '../../dev/create/add.ts'

const template = 'engine/dev/create/template'

/** Nouns of applications, nouns with irregular plurals, and nouns with another meaning in the code of the template. */
const nouns =
  'addresses aliases analyses answers arrays articles books branches buses caches callbacks calls canvases cases categories children classes columns comments contexts contracts cookies counts courses creates criteria customers data dates databases definitions deletes descriptions devices documents engines entries errors events expects exports fields files forms functions handlers heroes homes imports inputs inserts invoices keys labels leaves links lists loans maps matches messages methods movies news numbers objects options orders outputs pages parts people photos pieces procedures projects promises properties queries quizzes records references refreshes removes requests responses results rows selects series services shapes shelves sources statuses strings switches tables tags tasks terms tests texts tickets times timestamps titles tools topics types updates values views votes watches wolves words yields'.split(
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

test('resources with any of many names compile in one project', { timeout: 300_000 }, async () => {
  const folder = createProject()
  for (const name of nouns) {
    const { created, indexes } = planResource(folder, template, { name, hasPage: true })
    for (const [file, content] of created) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), content)
    }
    for (const { file, content = '' } of indexes) writeFileSync(join(folder, file), content)
  }

  for (const config of ['.', 'app']) expect(await compile(folder, config)).toEqual([])
  expect(nouns.length).toBeGreaterThan(60)
})
