import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'

import { install, run } from '../fixtures/installation.ts'
import { runCommand } from '../fixtures/programs.ts'

// The laws of a project that `tallystick new` and `add` write, with mistakes in its files.

let folder: string
let project: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tallystick-laws-'))
  project = join(folder, 'lendery')
  await runCommand({}, 'new', project, '--bare')
  await install(project)
  await run('npx', ['--no-install', 'tallystick', 'add', 'loans'], { cwd: project })
  await addDesk()
}, 600_000)

afterAll(() => rm(folder, { recursive: true, force: true }))

/** Adds the desk of the engine's tests as a second application of the project, with laws of its own. */
async function addDesk() {
  await cp('engine/test/desk', join(project, 'desk'), { recursive: true })
  const laws = `import { laws } from 'tallystick-dev/testing/laws'\nimport { app } from '../desk/app.ts'\nimport { cases } from '../desk/cases.ts'\nlaws(app, cases)\n`
  await writeFile(join(project, 'test/desk.test.ts'), laws)
}

/** Runs the laws of the project, and returns what they print. */
const runLaws = (file: string) =>
  run('npx', ['--no-install', 'vitest', 'run', `test/${file}.test.ts`], {
    cwd: project,
    env: { ...process.env, TEST_TRANSPORT: 'over REST', NO_COLOR: '1' },
    maxBuffer: 64 * 1024 * 1024,
  }).then(
    ({ stdout }) => ({ passed: true, output: stdout }),
    (error: unknown) => {
      const { stdout, stderr } = error as { stdout: string; stderr: string }
      return { passed: false, output: stdout + stderr }
    },
  )

/** Replaces a part of a file until the end of the test. */
async function makeMistake(file: string, correct: string | RegExp, mistake: string) {
  const path = join(project, file)
  const before = await readFile(path, 'utf8')
  const after = before.replace(correct, mistake)
  expect(after).not.toBe(before)
  await writeFile(path, after)
  onTestFinished(() => writeFile(path, before))
}

/** Handlers of a developer who forgets the owner. */
const listAll = `async ({ context: { db } }) => ({
  loans: (await db.select().from(loanRows.table)).map(({ id, title, createdAt }) => ({
    id, title, createdAt: toUnixSeconds(createdAt),
  })),
})`
const removeAny = `async ({ context: { db }, input: { id }, errors }) => {
  const { eq } = await import('drizzle-orm')
  const removed = await db.delete(loanRows.table).where(eq(loanRows.table.id, id)).returning()
  if (removed.length === 0) throw errors.NOT_FOUND()
  return { success: true }
}`

const mistakes: [mistake: string, file: string, correct: string | RegExp, wrong: string, sentence: string][] =
  [
    [
      'a list without owner',
      'src/loans.ts',
      "page('loans')",
      listAll,
      'With the rows of Ada, loans.list (call 1): loans has',
    ],
    [
      'a deletion without owner',
      'src/loans.ts',
      'remove()',
      removeAny,
      'Bob calls loans.delete with id of Ada.',
    ],
    [
      'empty `updates`',
      'contract/loans.ts',
      'creating([loansTopic])',
      'creating([])',
      'loans.create changes the state of the topic loans, but does not announce it',
    ],
    [
      'a field that is not stored',
      'src/loans.ts',
      'insert(({ input }) => input)',
      "insert(({ input }) => ({ ...input, title: 'A loan' }))",
      'another value of `title` changes neither the answer nor a later read',
    ],
    [
      'a filter by a foreign parent',
      'desk/app.ts',
      'query.ownsProject(user.id),\n      input?.projectId',
      'input?.projectId ? undefined : query.ownsProject(user.id),\n      input?.projectId',
      'Bob calls tickets.list (call 2) with projectId of Ada.',
    ],
    [
      'an item that moves into a foreign parent',
      'desk/app.ts',
      '!ticket || !(await query.hasProject(db, user.id, input.to))',
      '!ticket',
      'Bob calls tickets.move with to of Ada.',
    ],
  ]

describe('the laws of a new project', { timeout: 300_000 }, () => {
  test.each(['laws', 'desk'])('pass in test/%s.test.ts', async (file) => {
    expect(await runLaws(file)).toMatchObject({ passed: true })
  })

  test.each(mistakes)('find %s', async (_, file, correct, wrong, sentence) => {
    await makeMistake(file, correct, wrong)

    const { passed, output } = await runLaws(file.startsWith('desk') ? 'desk' : 'laws')

    expect(passed).toBe(false)
    expect(output).toContain(sentence)
  })
})
