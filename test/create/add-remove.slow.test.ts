import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'

/** Creates a project with the packages of the repository. */
function createProject() {
  const folder = mkdtempSync(join(tmpdir(), 'tallystick-add-remove-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  cpSync('engine/dev/create/template', folder, { recursive: true })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const path = (file: string) => join(folder, file)
  return {
    /** The texts of all files, without the migrations. */
    texts: () =>
      new Map(
        readdirSync(folder, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
          .filter((file) => !file.startsWith('node_modules') && !file.startsWith('db/migrations'))
          .map((file) => [file, readFileSync(path(file), 'utf8')]),
      ),
    /** The migrations in their order: the name without the time, and the statements. */
    migrations: () =>
      readdirSync(path('db/migrations'))
        .filter((file) => file.endsWith('.sql'))
        .sort()
        .map((file) => [file.replace(/^\d+_/, ''), readFileSync(path(`db/migrations/${file}`), 'utf8')]),
    replace: (file: string, from: string, to: string) => {
      const text = readFileSync(path(file), 'utf8')
      expect(text).toContain(from)
      writeFileSync(path(file), text.replace(from, to))
    },
    /** Runs `tallystick`. */
    run: (...words: string[]) =>
      new Promise<{ code: number; output: string }>((done) => {
        const loader = resolve('node_modules/tsx/dist/loader.mjs')
        const program = ['--import', loader, resolve('engine/command.ts'), ...words]
        const options = { cwd: folder, env: { PATH: process.env.PATH } }
        const child = execFile(process.execPath, program, options, (_, stdout, stderr) => {
          done({ code: child.exitCode ?? -1, output: stdout + stderr })
        })
      }),
  }
}

describe('tallystick add and remove', { timeout: 300_000 }, () => {
  test('are the reverse of each other, and the migrations create and drop the table', async () => {
    const project = createProject()
    const before = project.texts()

    const added = await project.run('add', 'loans')
    const between = project.texts()
    const removed = await project.run('remove', 'loans')

    expect(added).toMatchObject({ code: 0, output: expect.stringContaining('Created src/loans.ts\n') })
    expect([...between.keys()].filter((file) => !before.has(file))).toHaveLength(7)
    expect(removed).toMatchObject({ code: 0, output: expect.stringContaining('Removed src/loans.ts\n') })
    expect(project.texts()).toEqual(before)
    expect(project.migrations()).toEqual([
      ['ideas.sql', expect.stringContaining('CREATE TABLE "ideas"')],
      ['add_loans.sql', expect.stringContaining('CREATE TABLE "loans"')],
      ['remove_loans.sql', 'DROP TABLE "loans";'],
    ])
    expect((await project.run('migration', '--check')).output).toContain('The migrations are complete')
    expect(await project.run('add', 'loans', '--dry-run')).toMatchObject({ code: 0 })
  })

  test('print a plan with --dry-run, and change nothing', async () => {
    const project = createProject()
    const before = [project.texts(), project.migrations()]

    const { code, output } = await project.run('add', 'book-loans', '--dry-run')
    const removal = await project.run('remove', 'ideas', '--dry-run')

    expect(code).toBe(0)
    expect(output).toContain('One item has the name: book loan (')
    expect(output).toContain('  contract/book-loans.ts\n')
    expect(output).toContain('+++ b/src/app.ts\n')
    expect(output).toContain("+import { bookLoans } from './book-loans.ts'\n")
    expect(output).toContain('CREATE TABLE "book_loans"')
    expect(removal.output).toContain("-import { ideas } from './ideas.ts'\n")
    expect(removal.output).toContain('DROP TABLE "ideas";')
    expect([project.texts(), project.migrations()]).toEqual(before)
  })

  test('are the reverse of each other for shared rows, and for rows within a parent', async () => {
    const project = createProject()
    const before = project.texts()

    const shared = await project.run('add', 'projects', '--shared')
    const withProjects = project.texts()
    const preview = await project.run('add', 'tickets', '--of', 'projects', '--dry-run')
    const within = await project.run('add', 'tickets', '--of', 'projects')
    const nested = await project.run('add', 'comments', '--of', 'tickets', '--no-page')

    for (const { code } of [shared, preview, within, nested]) expect(code).toBe(0)
    expect(preview.output).toContain('"project_id" bigint NOT NULL')
    expect(preview.output).not.toContain('garden')
    for (const [file, text] of withProjects)
      if (file.includes('projects')) expect(project.texts().get(file)).toBe(text)
    expect((await project.run('migration', '--check')).output).toContain('The migrations are complete')
    expect(await project.run('remove', 'projects', '--force')).toMatchObject({
      code: 1,
      output: expect.stringContaining('The rows of tickets have a foreign key to projects'),
    })
    for (const name of ['comments', 'tickets', 'projects'])
      expect(await project.run('remove', name)).toMatchObject({ code: 0 })
    expect(project.texts()).toEqual(before)
    expect(project.migrations().at(-1)).toEqual([
      'remove_projects.sql',
      'DROP TABLE "project_members";--> statement-breakpoint\nDROP TABLE "projects";',
    ])
    expect((await project.run('migration', '--check')).output).toContain('The migrations are complete')
  })

  test('a resource cannot be shared and within a parent, and its parent must exist', async () => {
    const project = createProject()

    expect(await project.run('add', 'loans', '--shared', '--of', 'ideas')).toMatchObject({
      code: 1,
      output: expect.stringContaining('Choose --shared or --of'),
    })
    expect(await project.run('add', 'loans', '--of', 'books')).toMatchObject({
      code: 1,
      output: expect.stringContaining('there is no such resource. Possible parents: ideas'),
    })
  })

  test('a removal is refused if files were changed, or if other tables need the table', async () => {
    const project = createProject()
    await project.run('add', 'loans')
    project.replace('src/loans.ts', 'title,', 'title: title.trim(),')
    const before = [project.texts(), project.migrations()]

    const changed = await project.run('remove', 'loans')
    expect(changed).toMatchObject({
      code: 1,
      output: expect.stringContaining('Changed since `add`: src/loans.ts\n'),
    })
    expect([project.texts(), project.migrations()]).toEqual(before)

    project.replace('db/loans.ts', 'import { bigint', "import { ideas } from './ideas.ts'\nimport { bigint")
    project.replace(
      'db/loans.ts',
      '    createdAt,',
      "    ideaId: bigint({ mode: 'number' }).references(() => ideas.id),\n    createdAt,",
    )
    await project.run('migration', '--name', 'idea_of_loans')
    expect(await project.run('remove', 'ideas', '--force')).toMatchObject({
      code: 1,
      output: expect.stringContaining('The rows of loans have a foreign key to ideas'),
    })
    expect(await project.run('remove', 'loans', '--force')).toMatchObject({ code: 0 })
    expect(await project.run('remove', 'ideas')).toMatchObject({ code: 0 })
    expect(project.migrations().at(-1)).toEqual(['remove_ideas.sql', 'DROP TABLE "ideas";'])
  })
})
