import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { format } from 'prettier'
import ts from 'typescript'
import { describe, expect, onTestFinished, test } from 'vitest'

import { contentsOf } from '../../dev/create/resources/add.ts'
import { findParent } from '../../dev/create/resources/parents.ts'
import { type Plan, planResource } from '../../dev/create/resources/plan.ts'
import { planRemoval } from '../../dev/create/resources/remove.ts'
import { chooseNames, singularsOf } from '../../dev/create/resources/resource-names.ts'
import { writeFiles } from '../../dev/create/folder.ts'
import { readTemplate } from '../../dev/create/template.ts'
import { readPaths } from '../../dev/project/page-paths.ts'

const template = 'engine/dev/create/template'

/** Creates a project without packages. */
function createProject(options: { bare?: true } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'tallystick-add-test-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true })
  })
  const versions = { tallystick: '', 'tallystick-contract': '', 'tallystick-dev': '' }
  const files = readTemplate(template, { name: 'Lendery', id: 'lendery', ...options, versions })
  writeFiles(folder, files)
  return {
    folder,
    plan: (name: string, hasPage = true) => planResource(folder, template, { name, hasPage }),
    planShared: (name: string) =>
      planResource(folder, template, { name, kind: { type: 'shared' }, hasPage: true }),
    planWithin: (name: string, of: string) =>
      planResource(folder, template, {
        name,
        kind: { type: 'within', parent: findParent(folder, of) },
        hasPage: true,
      }),
  }
}

/** Writes a plan, without its migration. */
function writePlan(folder: string, { created, indexes }: Pick<Plan, 'created' | 'indexes'>) {
  for (const [file, content] of [...created, ...contentsOf(indexes)]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), content)
  }
}

const mistakesIn = (code = '', fileName = 'index.tsx') =>
  ts.transpileModule(code, { fileName, reportDiagnostics: true }).diagnostics

const namesOf = (name: string, one?: string) => chooseNames(name, one, () => undefined)

describe('the names of a resource', () => {
  test.each([
    ['loans', 'loan', 'Loans', 'Loan'],
    ['book-loans', 'bookLoan', 'BookLoans', 'BookLoan'],
    ['categories', 'category', 'Categories', 'Category'],
    ['boxes', 'box', 'Boxes', 'Box'],
    ['houses', 'house', 'Houses', 'House'],
    ['shop-cookies', 'shopCookie', 'ShopCookies', 'ShopCookie'],
    ['people', 'person', 'People', 'Person'],
    ['news', 'newsItem', 'News', 'NewsItem'],
    ['classes', 'classItem', 'Classes', 'ClassItem'],
  ])('%s: one is %s', (name, camelOne, pascal, pascalOne) => {
    expect(namesOf(name)).toMatchObject({ camelOne, pascal, pascalOne })
  })

  const irregular =
    'movies movie cookies cookie statuses status buses bus series series-item data datum caches cache canvases canvas lenses lens shoes shoe analyses analysis quizzes quiz criteria criterion leaves leaf wolves wolf lives life heroes hero photos photo children child men man mice mouse calories calorie ties tie aliases alias bonuses bonus campuses campus gases gas glasses glass responses response courses course databases database expenses expense purchases purchase licenses license indices index vertices vertex taxes tax prefixes prefix employees employee headaches headache species species-item equipment equipment-item media media-item feedback feedback-item axes axe toes toe canoes canoe zombies zombie selfies selfie hoodies hoodie potatoes potato moves move'.split(
      ' ',
    )
  const pairs = irregular.flatMap((plural, index) =>
    index % 2 ? [] : [[plural, irregular[index + 1] ?? '']],
  )
  test.each(pairs)('%s: one is %s', (plural, one) => {
    expect(singularsOf(plural)[0]).toBe(one)
  })

  test.each([
    'Loans',
    'l',
    '1s',
    'a_s',
    'a--bs',
    'a-',
    '../as',
    'a/bs',
    "a'bs",
    'x'.repeat(42) + 's',
    'a-1s',
  ])('are refused: %s', (name) => {
    expect(() => namesOf(name)).toThrow('is no name')
  })

  test('are a plural and its singular, or the given name of one item', () => {
    expect(() => namesOf('book-loan')).toThrow('Choose book-loans, or add')
    expect(namesOf('staff', 'colleague').pascalOne).toBe('Colleague')
    expect(() => namesOf('sheep', 'sheep')).toThrow('must differ')
    expect(() => namesOf('kinds', 'class')).toThrow('class is a word of TypeScript')
  })
})

describe('the plan of a new resource', () => {
  test('has files without a trace of the sample, and without mistakes in the syntax', () => {
    const { created } = createProject().plan('book-loans')

    expect([...created.keys()]).toEqual([
      'contract/book-loans.ts',
      'db/book-loans.ts',
      'src/book-loans.ts',
      'src/samples/book-loans.ts',
      'test/book-loans.test.ts',
      'test/cases/book-loans.ts',
      'app/views/book-loans.tsx',
    ])
    for (const [file, code] of created) {
      expect(code).not.toMatch(/idea/i)
      expect(mistakesIn(code, file)).toEqual([])
    }
  })

  test('uses each form of the name in its place', () => {
    const { created } = createProject().plan('book-loans')

    const contract = created.get('contract/book-loans.ts')
    expect(contract).toContain("path: '/api/book-loans/{id}'")
    expect(contract).toContain("topic('bookLoans', ")
    expect(contract).toContain("contents: ['book loans']")
    expect(contract).toContain("message: 'Book loan not found'")
    expect(contract).toContain("id: 'BookLoanList'")
    const queries = created.get('db/book-loans.ts')
    expect(queries).toMatch(/bookLoans = pgTable\(\s*'book_loans'/)
    expect(queries).toContain('bookLoanRows = rows(bookLoans, ')
    expect(created.get('src/book-loans.ts')).toContain("from '../contract/book-loans.ts'")
    expect(created.get('test/cases/book-loans.ts')).toContain(
      "'bookLoans.delete NOT_FOUND': ({ bob, fixture })",
    )
    const view = created.get('app/views/book-loans.tsx')
    expect(view).toContain("label={t('bookLoans')}")
    expect(view).toContain('export const bookLoans = view({')
    expect(view).toContain("path: '/book-loans'")
    expect(view).toContain("topics: ['bookLoans']")
    expect(view).toContain("noBookLoans: 'You have no book loans.'")
    expect(view).toContain("bookLoans: 'Book loans'")
  })

  test.each([{}, { bare: true as const }])('adds the lines to the indexes: %j', (options) => {
    const { folder, plan } = createProject(options)
    const { indexes } = plan('loans')

    const [contract, app, views] = indexes.map(({ content = '' }) => content)
    expect(indexes).toHaveLength(3)
    expect(contract).toContain("\nimport { loans } from './loans.ts'\n")
    expect(contract).toMatch(/contract = appContract\(\{\n {2}\/\/ .*\n( {2}ideas,\n)? {2}loans,\n\}\)/)
    expect(app).toContain("\nimport { loans } from './loans.ts'\n")
    expect(app).toMatch(/ {2}resources: \{\n( {4}ideas,\n)? {4}loans,\n {2}\},/)
    expect(views).toContain("\nimport { loans } from './views/loans.tsx'\n")
    expect(views).toMatch(
      /views = \[\n {2}home,\n( {2}ideas,\n)? {2}loans,\n {2}\/\/ .*\n {2}\.\.\.accountViews,\n\]/,
    )
    for (const { file, content = '' } of indexes) {
      const before = readFileSync(join(folder, file), 'utf8').split('\n')
      // `{}` becomes an object with lines.
      const isEmpty = options.bare && file.startsWith('src/')
      const added = content.split('\n').filter((line) => !before.includes(line))
      expect(added.filter(Boolean)).toHaveLength(isEmpty ? 4 : 2)
      expect(mistakesIn(content)).toEqual([])
    }
  })

  test('has another path of the view if the page has the path already', () => {
    const view = createProject().plan('people').created.get('app/views/people.tsx')

    expect(view).toContain("path: '/my-people'")
  })

  test('imports a view with the name of the list by another name', () => {
    const { content = '' } = createProject().plan('views').indexes.at(-1) ?? {}

    expect(content).toContain("\nimport { views as viewsView } from './views/views.tsx'\n")
    expect(content).toContain('\n  viewsView,\n')
  })

  test('names the line for projects of earlier releases, whose laws collect no cases', () => {
    const { folder, plan } = createProject()
    writeFileSync(join(folder, 'test/laws.test.ts'), 'laws(app, cases)\n')

    expect(plan('loans').indexes.at(-1)).toMatchObject({
      file: 'test/laws.test.ts',
      content: undefined,
      lines: [expect.stringContaining('collectCases(import.meta.glob')],
    })
  })

  test('knows indexes that Prettier has formatted, with the line ends of Windows', async () => {
    const { folder, plan } = createProject()
    const prettier = { parser: 'typescript', endOfLine: 'crlf' } as const
    for (const { file } of plan('loans').indexes) {
      const path = join(folder, file)
      writeFileSync(path, await format(readFileSync(path, 'utf8'), prettier))
    }

    const { created, indexes } = plan('loans')

    expect(indexes.length).toBeGreaterThan(2)
    for (const { content = '' } of indexes) expect(content).toBe(await format(content, prettier))
    for (const content of created.values()) expect(content).not.toMatch(/[^\r]\n/)
  })

  test('has the lines of an index with an unknown form', () => {
    const { folder, plan } = createProject()
    writeFileSync(join(folder, 'src/app.ts'), 'export const app = create()\n')

    const [, app] = plan('loans').indexes

    expect(app).toEqual({
      file: 'src/app.ts',
      content: undefined,
      lines: ["import { loans } from './loans.ts'", 'resources: loans,'],
    })
  })

  test('has no view with --no-page', () => {
    const { created, indexes } = createProject().plan('loans', false)

    expect(
      [...created.keys(), ...indexes.map(({ file }) => file)].filter((file) => file.startsWith('app')),
    ).toEqual([])
  })

  test('renames what the code of the sample has under the names of a resource', () => {
    const pages = createProject().plan('pages').created.get('contract/pages.ts')
    const rows = createProject().plan('rows').created

    expect(pages).toContain('  Page as EnginePage,\n')
    expect(pages).toContain('.input(EnginePage.extend(Search.shape).optional())')
    expect(rows.get('db/rows.ts')).toContain('rows as engineRows')
    expect(rows.get('db/rows.ts')).toContain('rowRows = engineRows(rows')
  })

  test('has another name for one item if a schema of the API has the name', () => {
    const { folder, plan } = createProject()
    writeFileSync(
      join(folder, 'contract/stock.ts'),
      "const a = z.object({}).register(b, { id: 'CreateBook' })\n",
    )

    expect(plan('books').names.pascalOne).toBe('BookItem')
    expect(plan('statuses').names.pascalOne).toBe('StatusItem')
  })

  test.each([
    ['ideas', 'contract/ideas.ts exists already'],
    ['sessions', 'sessions is a resource of the engine'],
    ['users', 'users is a table of the engine'],
    ['accounts', 'accounts is a table of the engine'],
    ['device-codes', 'device_codes is a table of the engine'],
  ])('is refused for %s: %s', (name, problem) => {
    const { folder, plan } = createProject()
    const before = readdirSync(folder, { recursive: true })

    expect(() => plan(name)).toThrow(problem)

    expect(readdirSync(folder, { recursive: true })).toEqual(before)
    expect(readFileSync(join(folder, 'src/app.ts'), 'utf8')).not.toContain(`${name},\n    ${name}`)
  })
})

/** Creates a project with projects that people share, tickets within, and comments within tickets. */
function createTracker(options: { bare?: true } = {}) {
  const project = createProject(options)
  writePlan(project.folder, project.planShared('book-projects'))
  writePlan(project.folder, project.planWithin('issues', 'book-projects'))
  writePlan(project.folder, project.planWithin('comments', 'issues'))
  return project
}

describe('the plan of a resource that people share, and of a resource within a parent', () => {
  test.each([{}, { bare: true as const }])(
    'adds two lines to each index, and no other change: %j',
    (options) => {
      const { folder, planShared, planWithin } = createProject(options)
      writePlan(folder, planShared('projects'))
      const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })

      const { created, indexes } = planWithin('tickets', 'projects')

      expect([...created.keys()].filter((file) => files.includes(file))).toEqual([])
      expect(indexes.map(({ file }) => file)).toEqual(['contract/index.ts', 'src/app.ts', 'app/views.ts'])
      for (const { file, content = '' } of indexes) {
        const before = readFileSync(join(folder, file), 'utf8').split('\n')
        expect(content.split('\n').filter((line) => !before.includes(line))).toHaveLength(2)
      }
    },
  )

  test('has no trace of the samples and their marks, and no mistakes in the syntax', () => {
    const { planShared, planWithin } = createTracker()

    for (const { created } of [
      planShared('walls'),
      planWithin('stories', 'book-projects'),
      planWithin('steps', 'comments'),
    ])
      for (const [file, code] of created) {
        expect(code).not.toMatch(/idea|garden|plant|\/\/ #/i)
        expect(mistakesIn(code, file)).toEqual([])
      }
  })

  test('uses each form of both names in its place', () => {
    const { created } = createTracker().planWithin('short-stories', 'book-projects')

    const contract = created.get('contract/short-stories.ts')
    expect(contract).toContain("path: '/api/book-projects/{bookProjectId}/short-stories'")
    expect(contract).toContain("of: 'bookProjectId'")
    expect(contract).toContain("inBookProject('LIST_SHORT_STORIES')")
    expect(contract).toContain("message: 'Book project not found'")
    expect(contract).toContain("description: 'Adds a new short story to a book project.'")
    const table = created.get('db/short-stories.ts')
    expect(table).toContain("import { bookProjectRows, bookProjects } from './book-projects.ts'")
    expect(table).toContain("within(bookProjectRows, 'bookProjectId')")
    expect(created.get('src/short-stories.ts')).toContain("viewer: ['LIST_SHORT_STORIES'],")
    expect(created.get('test/cases/short-stories.ts')).toContain("share } from './book-projects.ts'")
    const view = created.get('app/views/short-stories.tsx')
    expect(view).toContain("noShortStories: 'The book project has no short stories.'")
    expect(view).toContain("path: '/book-projects/{bookProjectId}/short-stories'")
    expect(view).toContain("path: '/short-stories'")
  })

  test('has views at other paths if the page has the path already', () => {
    const { folder, planShared, planWithin } = createProject()
    const { created, indexes } = planShared('people')
    writePlan(folder, { created, indexes })

    expect(created.get('app/views/people.tsx')).toContain("path: '/my-people'")
    expect(created.get('app/views/people-item.tsx')).toContain("path: '/my-people/{id}'")
    expect(indexes.at(-1)?.content).toContain('\n  ...people,\n')
    expect(planWithin('pets', 'people').created.get('app/views/pets.tsx')).toContain(
      "path: '/my-people/{personId}/pets'",
    )
    expect(readPaths(join(folder, 'app/views.ts'))).toContain('/my-people/{id}')
  })

  test('has the article that fits the name', () => {
    const { created } = createProject().planShared('issues')

    expect(created.get('contract/issues.ts')).toContain("summary: 'Remove a person from an issue'")
  })

  test('replaces no name within a name', () => {
    const project = createProject()
    writePlan(project.folder, project.planShared('plants'))

    const { created } = project.planWithin('gardens', 'plants')

    expect(created.get('contract/gardens.ts')).toContain("path: '/api/plants/{plantId}/gardens'")
    expect(created.get('db/gardens.ts')).toContain("within(plantRows, 'plantId')")
  })

  test('has only the owner as relation if the parent has no members', () => {
    const { created } = createProject().planWithin('stories', 'ideas')

    expect(created.get('src/stories.ts')).toContain(
      "owner: ['LIST_STORIES', 'CREATE_STORY', 'EDIT_STORY'],\n  },",
    )
    expect([...created.values()].join('')).not.toMatch(/FORBIDDEN|viewer|share/)
  })

  test('shows the form for new rows unless the parent says that the person may not change it', () => {
    const { planWithin } = createTracker()
    const addOf = (name: string, of: string) => {
      const view = planWithin(name, of).created.get(`app/views/${name}.tsx`) ?? ''
      return [/ add=\{(.*)\}/.exec(view)?.[1], view.includes('useQuery')]
    }

    expect(addOf('steps', 'comments')).toEqual([
      "comment.data?.can.EDIT_COMMENT !== false && t('addStep')",
      true,
    ])
    expect(addOf('steps', 'ideas')).toEqual(["t('addStep')", false])
  })

  test('has the roles of the parent, of which the first may edit', async () => {
    const project = createProject()
    writePlan(project.folder, project.planShared('projects'))
    const path = join(project.folder, 'db/projects.ts')
    const code = readFileSync(path, 'utf8').replace("['editor', 'viewer']", "['agent', 'guest', 'reader']")
    writeFileSync(path, await format(code, { parser: 'typescript', endOfLine: 'crlf' }))

    const { created } = project.planWithin('tickets', 'projects')

    const permissions = /permissions: (\{[^}]*\})/.exec(created.get('src/tickets.ts') ?? '')?.[1]
    expect(permissions?.match(/\w+(?=: \['LIST_TICKETS')/g)).toEqual(['owner', 'agent', 'guest', 'reader'])
    expect(permissions?.match(/\w+(?=:.*'EDIT_TICKET')/g)).toEqual(['owner', 'agent'])
    expect(created.get('test/tickets.test.ts')).toContain("share('reader')")
  })

  test.each([
    ['parties', 'there is no such resource. Possible parents: ideas, bookProjects, issues, comments'],
    ['rows', 'db/rows.ts exports no rows of a known form'],
  ])('is refused for the parent %s', (of, reason) => {
    const { folder, plan, planWithin } = createTracker()
    writePlan(folder, plan('rows'))
    writeFileSync(join(folder, 'db/rows.ts'), 'export const rows = pgTable()\n')

    expect(() => planWithin('stories', of)).toThrow(reason.replace('bookProjects', 'book-projects'))
  })

  test('is refused for the name of a field of live.watch', () => {
    expect(() => createTracker().planWithin('topics', 'issues')).toThrow('topics is a field of live.watch')
  })

  test('is refused if the cases of the parent cannot share, or its roles are unknown', () => {
    const { folder, planWithin } = createTracker()
    const change = (file: string, from: string, to: string) => {
      writeFileSync(join(folder, file), readFileSync(join(folder, file), 'utf8').replace(from, to))
    }
    change('test/cases/issues.ts', 'export { share }', '')
    expect(() => planWithin('stories', 'issues')).toThrow('test/cases/issues.ts exports no function share')
    change('db/book-projects.ts', "['editor', 'viewer']", 'roles')
    expect(() => planWithin('stories', 'book-projects')).toThrow('no table of members with the column role')
  })

  test('has another name for one item if the table of the members has the name of another table', () => {
    const { folder, planShared } = createProject()
    const path = join(folder, 'db/migrations/0000_ideas.sql')
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll('"ideas"', '"project_members"'))

    expect(planShared('projects').names.snakeOne).toBe('project_item')
  })

  test('can be removed, each kind as it was added', () => {
    const { folder } = createTracker()

    for (const name of ['book-projects', 'issues', 'comments'])
      expect(planRemoval(folder, template, name)).toMatchObject({ changed: [] })
    expect(planRemoval(folder, template, 'issues').users).toContain('db/comments.ts')
    expect(planRemoval(folder, template, 'book-projects').files).toContain('app/views/book-projects-item.tsx')
  })
})

describe.each([{}, { bare: true as const }])('the removal of a resource from a project: %j', (options) => {
  function addLoans() {
    const project = createProject(options)
    const { folder, plan } = project
    const { created, indexes } = plan('loans')
    const before = new Map(indexes.map(({ file }) => [file, readFileSync(join(folder, file), 'utf8')]))
    writePlan(folder, { created, indexes })
    const change = (file: string, map: (code: string) => string | Promise<string>) =>
      Promise.resolve(map(readFileSync(join(folder, file), 'utf8'))).then((code) => {
        writeFileSync(join(folder, file), code)
      })
    return { folder, created, before, change, planRemoval: () => planRemoval(folder, template, 'loans') }
  }

  test('is the reverse of its addition', () => {
    const { created, before, planRemoval } = addLoans()

    const removal = planRemoval()

    expect(removal).toMatchObject({ files: [...created.keys()], changed: [], users: [] })
    expect(new Map(removal.indexes.map(({ file, content }) => [file, content]))).toEqual(before)
  })

  test('names files that were changed since, but not in their format alone', async () => {
    const { change, planRemoval } = addLoans()
    await change('src/loans.ts', (code) => format(code, { parser: 'typescript', printWidth: 40 }))
    await change('contract/loans.ts', (code) => code.replaceAll('\n', '\r\n'))
    await change('db/loans.ts', (code) => code.replace('title: text()', 'name: text()'))

    expect(planRemoval().changed).toEqual(['db/loans.ts'])
  })

  test('includes the views that earlier versions of the command wrote', () => {
    const { folder, planRemoval } = addLoans()
    const former = ['app/views/loans-members.tsx', 'app/views/loans-choice.tsx']
    for (const file of [...former, 'app/views/loans-report.tsx']) {
      mkdirSync(join(folder, 'app/views'), { recursive: true })
      writeFileSync(join(folder, file), "import { loans } from './loans.tsx'\n")
    }

    const { files, changed, users } = planRemoval()

    expect(files).toEqual(expect.arrayContaining(former))
    expect({ changed, users }).toEqual({ changed: former, users: ['app/views/loans-report.tsx'] })
  })

  test('names other files that import files of the resource', () => {
    const { folder, planRemoval } = addLoans()
    writeFileSync(join(folder, 'src/report.ts'), "import { loans } from '../db/loans.ts'\n")

    expect(planRemoval().users).toEqual(['src/report.ts'])
  })

  test('leaves lines to a person if other code uses the resource', async () => {
    const { change, planRemoval } = addLoans()
    await change('src/app.ts', (code) => `${code}\nconsole.log(loans)\n`)

    expect(planRemoval().indexes.find(({ file }) => file === 'src/app.ts')).toMatchObject({
      content: undefined,
      lines: ["import { loans } from './loans.ts'", 'resources: loans,'],
    })
  })
})

test('a resource that does not exist cannot be removed', () => {
  expect(() => planRemoval(createProject().folder, template, 'loans')).toThrow('There is no resource loans')
})

test.each([{}, { bare: true as const }])('git merges the new resources of two branches: %j', (options) => {
  const { folder, plan } = createProject(options)
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...words], {
      cwd: folder,
    })
  const commit = () => {
    git('add', '--all')
    git('commit', '--quiet', '--message', 'Change')
  }
  const add = (name: string) => {
    writePlan(folder, plan(name))
    commit()
  }
  git('init', '--quiet', '--initial-branch', 'main')
  commit()
  git('checkout', '--quiet', '-b', 'other')
  add('members')
  git('checkout', '--quiet', 'main')
  add('loans')

  git('merge', '--quiet', '--no-edit', 'other')

  for (const { file } of plan('books').indexes) {
    const code = readFileSync(join(folder, file), 'utf8')
    expect(mistakesIn(code)).toEqual([])
    for (const name of ['loans', 'members']) {
      expect(code.split(`import { ${name}`)).toHaveLength(2)
      expect(code).toMatch(new RegExp(`^ +${name},$`, 'm'))
    }
  }
})
