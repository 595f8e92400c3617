import { execFile, execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'

const table = (name: string, columns = '') => `
import { pgTable, text } from 'drizzle-orm/pg-core'

export const ${name} = pgTable('${name}', { id: text().primaryKey(), title: text().notNull(),${columns} })
`

/** Creates a project with the packages of the repository. */
function createProject() {
  const folder = mkdtempSync(join(tmpdir(), 'tallystick-migration-test-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  cpSync('engine/dev/create/template', folder, { recursive: true })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const path = (file: string) => join(folder, file)
  const migrations = path('db/migrations')
  return {
    write: (file: string, content: string) => {
      mkdirSync(dirname(path(file)), { recursive: true })
      writeFileSync(path(file), content)
    },
    remove: (file: string) => {
      rmSync(path(file), { recursive: true })
    },
    read: (file: string) => readFileSync(path(file), 'utf8'),
    /** The names of the migrations. */
    list: () =>
      readdirSync(migrations)
        .filter((name) => name.endsWith('.sql'))
        .sort(),
    sqlOf: (name: string) =>
      readFileSync(
        join(migrations, readdirSync(migrations).find((file) => file.endsWith(`_${name}.sql`)) ?? ''),
        'utf8',
      ),
    git: (...words: string[]) => {
      const person = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']
      try {
        return execFileSync('git', [...person, ...words], { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
      } catch (error) {
        return (error as { stdout: string }).stdout
      }
    },
    /** Runs `tallystick`, without a terminal. */
    run: (...words: string[]) =>
      new Promise<{ code: number; output: string }>((done) => {
        const program = [
          '--import',
          resolve('node_modules/tsx/dist/loader.mjs'),
          resolve('engine/command.ts'),
        ]
        const options = { cwd: folder, env: { PATH: process.env.PATH } }
        const child = execFile(process.execPath, [...program, ...words], options, (_, stdout, stderr) => {
          done({ code: child.exitCode ?? -1, output: stdout + stderr })
        })
      }),
  }
}

describe('tallystick migration', { timeout: 180_000 }, () => {
  test('names a file by its time, and finds tables in folders of db/', async () => {
    const { run, write, list, sqlOf } = createProject()
    write('db/shop/items.ts', table('items'))
    write('db/shop/index.ts', "export * from './items.ts'\n")

    expect(await run('migration', '--check')).toEqual({
      code: 1,
      output: 'The tables in db/ differ from the migrations: CREATE TABLE "items"\nRun: npm run migration\n',
    })
    expect(list()).toHaveLength(1)
    expect(await run('migration', '--name', 'shop')).toMatchObject({ code: 0 })

    expect(list()[1]).toMatch(/^20\d{12}_shop\.sql$/)
    expect(sqlOf('shop')).toMatch(/^CREATE TABLE "items"/)
    expect(await run('migration', '--check')).toMatchObject({ code: 0 })
    expect((await run('migration')).output).toBe('The tables have not changed since the last migration.\n')
  })

  test('doctor says which tables lack a migration', async () => {
    const { run, write, remove } = createProject()
    remove('app')
    write('db/items.ts', table('items'))

    expect((await run('doctor')).output).toMatch(
      /^problem {2}migrations {2}The tables in db\/ differ .*"items"\. Run: npm run migration$/m,
    )
  })

  test('joins the snapshots of merged branches, also after a conflict in the journal', async () => {
    const { run, write, git, list, read } = createProject()
    write('.gitignore', 'node_modules\n')
    git('init', '--initial-branch', 'main')
    const commit = () => {
      git('add', '.')
      git('commit', '--message', 'x')
    }
    commit()
    for (const name of ['loans', 'members']) {
      git('checkout', '-b', name, 'main')
      write(`db/${name}.ts`, table(name))
      await run('migration', '--name', name)
      commit()
    }

    const merged = git('merge', 'loans')
    const before = await run('migration', '--check')
    const joined = await run('migration')

    expect(merged).toContain('Merge conflict in db/migrations/meta/_journal.json')
    expect(before).toMatchObject({ code: 1 })
    expect(before.output).toMatch(
      /^meta\/_journal\.json lacks \d+_loans\nmeta\/\d+_snapshot\.json lacks the changes of another branch\nRun/,
    )
    expect(joined.output).toMatch(
      /^Corrected: .*\nThe tables have not changed since the last migration\.\n$/s,
    )
    expect(list().join()).toMatch(/ideas\.sql,\d+_loans\.sql,\d+_members\.sql$/)
    expect(read('db/migrations/meta/_journal.json')).toMatch(/_ideas".*_loans".*_members"/s)
    expect(await run('migration', '--check')).toMatchObject({ code: 0 })
  })

  test('without a terminal, fails for a renamed column, and says which options answer', async () => {
    const { run, write, read, list, sqlOf } = createProject()
    write(
      'db/ideas.ts',
      read('db/ideas.ts').replace('title: text().notNull()', "label: text('label').notNull()"),
    )

    expect(await run('migration')).toEqual({
      code: 1,
      output: expect.stringMatching(
        /renamed, or replaced\?.*\n {2}ideas\.title: --rename ideas\.title:label, or --drop ideas\.title\n$/s,
      ) as string,
    })
    expect(list()).toHaveLength(1)
    expect((await run('migration', '--check')).output).toContain('something is renamed or replaced')
    const { output } = await run('migration', '--name', 'label', '--rename', 'ideas.title:label')

    expect(sqlOf('label')).toBe('ALTER TABLE "ideas" RENAME COLUMN "title" TO "label";')
    expect(output).toContain('begin the file with the line `-- breaking`')
    expect(await run('migration', '--check')).toMatchObject({ code: 0 })
  })

  test('replaces a column, and renames a table, by options', async () => {
    const { run, write, sqlOf } = createProject()
    write('db/items.ts', table('items', ' kind: text().unique(),'))
    await run('migration', '--name', 'items')
    write('db/items.ts', table('things', ' sort: text(),'))

    await run(
      'migration',
      '--name',
      'things',
      '--rename',
      'items:things',
      '--drop',
      'items.kind',
      '--breaking',
    )

    expect(sqlOf('things')).toMatch(
      /^-- breaking\nALTER TABLE "items" DROP COLUMN "kind";--> statement-breakpoint\nALTER TABLE "items" RENAME TO "things";--> statement-breakpoint\nALTER TABLE "things" ADD COLUMN "sort" text;$/,
    )
    expect(await run('migration', '--check')).toMatchObject({ code: 0 })
  })

  test('fails with the message of drizzle-kit if the tables cannot be loaded', async () => {
    const { run, write, list } = createProject()
    write('db/items.ts', 'mistake here')

    const { code, output } = await run('migration')

    expect(code).toBe(1)
    expect(output).toMatch(/^drizzle-kit could not write the migration: .*items\.ts/s)
    expect(list()).toHaveLength(1)
  })

  test('--empty writes the snapshot of changes that other migrations have', async () => {
    const { run, write, list } = createProject()
    write('db/items.ts', table('items'))
    // Two branches before the names had times: git has kept the snapshot of the other one.
    write('db/migrations/0000_items.sql', 'CREATE TABLE "items" ("id" text)')

    expect((await run('migration', '--check')).output).toContain('npm run migration -- --empty')
    await run('migration', '--name', 'join', '--empty')

    expect(list()).toHaveLength(3)
    expect(await run('migration', '--check')).toMatchObject({ code: 0 })
  })
})
