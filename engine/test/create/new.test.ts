import { execFileSync, spawnSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { describe, expect, onTestFinished, test } from 'vitest'

import { checkFolder, writeFiles, writeProject } from '../../dev/create/folder.ts'
import { toNames } from '../../dev/create/names.ts'
import { quoteWord } from '../../dev/create/shell.ts'
import { readTemplate, readTemplateFiles } from '../../dev/create/template.ts'
import { homePage } from '../../html/home.ts'
import { readSettings } from '../../settings/settings.ts'

const TEMPLATE = 'engine/dev/create/template'
const versions = {
  tallystick: 'file:vendor/a.tgz',
  'tallystick-contract': 'file:vendor/b.tgz',
  'tallystick-dev': 'file:vendor/c.tgz',
}

const filesOf = (name: string, options: { bare?: true } = {}) =>
  readTemplate(TEMPLATE, { ...toNames('lendery', name), ...options, versions })

interface Manifest {
  name: string
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
  peerDependencies: Record<string, string>
}

const parse = (text = '') => JSON.parse(text) as Manifest

const names = [
  'Lendery',
  "Ada's Library",
  '"><script>alert(1)</script>',
  'a ${process.exit(1)} b',
  'a `b` c',
  String.raw`a \u0041 \ b \n`,
  '$& $1 $$',
  '</script><!-- -->',
  '図書館 Библиотека 📚',
  'x'.repeat(60),
]

describe('the name of a project', () => {
  /** Returns the values of the text literals in a file of TypeScript. Fails if the file has a mistake in its syntax. */
  function literalsOf(code: string) {
    const { diagnostics = [] } = ts.transpileModule(code, { reportDiagnostics: true })
    expect(diagnostics).toEqual([])
    const literals: string[] = []
    const visit = (node: ts.Node) => {
      if (ts.isStringLiteral(node)) literals.push(node.text)
      ts.forEachChild(node, visit)
    }
    visit(ts.createSourceFile('app.ts', code, ts.ScriptTarget.ES2023))
    return literals
  }

  test.each(names)('is a text of the application, and no code: %s', (name) => {
    const code = filesOf(name).get('src/app.ts') ?? ''
    const sample = filesOf('Lendery').get('src/app.ts') ?? ''

    const rename = (text: string) =>
      text === 'Lendery' ? name : text === 'lendery' ? toNames('lendery', name).id : text
    expect(literalsOf(code)).toEqual(literalsOf(sample).map(rename))
  })

  test.each(names)('is no HTML in README.md: %s', (name) => {
    const [title = ''] = filesOf(name).get('README.md')?.split('\n') ?? []

    expect(title.replace(/\\(.)/g, '$1')).toBe(`# ${name}`)
    expect(title).not.toMatch(/(?<!\\)[<`$]/)
  })

  test('is quoted in the default sender, and no HTML on the page at /', () => {
    const app = { name: '"><script>', id: 'script', description: '<b>', rateLimits: new Map() }

    const { mailFrom } = readSettings({ AUTH_SECRET: 'x'.repeat(32) }, app)

    expect(mailFrom).toBe(String.raw`"\"><script>" <script@localhost>`)
    expect(homePage(app, 'http://localhost/mcp')).not.toMatch(/<script>|<b>/)
  })

  test.each(names)('gives package.json a valid name: %s', (name) => {
    expect(parse(filesOf(name).get('package.json')).name).toMatch(/^[a-z][a-z0-9-]*$/)
  })

  test.each([
    ['Lendery', 'lendery'],
    ['2 Books', 'folder'],
    ['2048', 'folder'],
    ['図書館', 'folder'],
  ])('%s has the id %s', (name, id) => {
    expect(toNames('folder', name)).toEqual({ name, id })
  })

  test.each([
    ['', 'must not be blank'],
    [' \u200b', 'must not be blank'],
    ['a\nb', 'line breaks'],
    ['a\u2028b', 'line breaks'],
    ['a\u0000b', 'control characters'],
    ['a\u202eb', 'control characters'],
    ['a\ud800', 'surrogates'],
    ['x'.repeat(61), 'at most 60'],
  ])('is refused: %j', (name, problem) => {
    expect(() => toNames('lendery', name)).toThrow(problem)
  })

  test('gets an id that begins with a letter if neither the name nor the folder does', () => {
    expect(toNames('2048')).toEqual({ name: '2048', id: 'app-2048' })
    expect(toNames('3d-prints', '3D prints')).toEqual({ name: '3D prints', id: 'app-3d-prints' })
    expect(toNames('1', '図書館')).toEqual({ name: '図書館', id: 'app-1' })
  })

  test('is refused if neither the name nor the folder has a letter from A to Z or a digit', () => {
    expect(() => toNames('本', '図書館')).toThrow('must have a letter')
  })
})

describe('the files of a project', () => {
  test('are at most 40, with the archives and the record of the template, and contain no secret', () => {
    const files = filesOf('Lendery')

    expect(files.size + 3).toBeLessThanOrEqual(40)
    expect([...files.keys()]).toContain('.gitignore')
    expect(files.get('.gitignore')?.split('\n')).toEqual(expect.arrayContaining(['.data/', '.env']))
    expect([...files.keys()].filter((file) => /\.env|secret|\.data/.test(file))).toEqual([])
  })

  test('contain the names of the template nowhere else than in a list', () => {
    const naming = [...readTemplateFiles(TEMPLATE)].flatMap(([file, text]) =>
      /example[- ]app/i.test(text) ? [file] : [],
    )

    expect(naming.sort()).toEqual([
      'README.md',
      'app/index.html',
      'app/main.tsx',
      'package.json',
      'src/app.ts',
    ])
    expect([...filesOf('Lendery').values()].join('\n')).not.toMatch(/example[- ]app/i)
  })

  test('have no sample resource with --bare', () => {
    const files = filesOf('Lendery', { bare: true })

    expect([...files].filter(([file, text]) => /idea/i.test(file + text))).toEqual([])
    expect(files.get('contract/index.ts')).toMatch(/appContract\(\{\s*\/\/.*\s*\}\)/)
    expect(files.get('src/app.ts')).toContain('resources: {},')
    expect(JSON.parse(files.get('db/migrations/meta/_journal.json') ?? '')).toMatchObject({ entries: [] })
  })

  test('have the exact versions of the engine and of this repository', () => {
    const { dependencies, devDependencies } = parse(filesOf('Lendery').get('package.json'))
    const engine = parse(readFileSync('engine/package.json', 'utf8'))
    const root = parse(readFileSync('package.json', 'utf8'))
    const expected = { ...root.devDependencies, ...engine.peerDependencies, ...versions }

    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
      expect([name, version]).toEqual([name, expected[name as keyof typeof expected]])
    for (const version of Object.values(engine.peerDependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/)
  })
})

describe('the folder of a project', () => {
  function scratch() {
    const folder = mkdtempSync(join(tmpdir(), 'tallystick-new-test-'))
    onTestFinished(() => {
      rmSync(folder, { recursive: true })
    })
    return folder
  }
  const files = new Map([
    ['a.txt', 'a'],
    ['b/c.txt', 'c'],
  ])

  test('may be absent or empty', () => {
    const folder = scratch()
    mkdirSync(join(folder, 'empty'))

    for (const name of ['empty', 'absent']) {
      checkFolder(join(folder, name), folder)
      writeFiles(join(folder, name), files)
      expect(readFileSync(join(folder, name, 'b/c.txt'), 'utf8')).toBe('c')
    }
  })

  test('may have a repository, a README, a license and the settings of editors, which stay', () => {
    const folder = scratch()
    const own = ['.git/config', '.vscode/settings.json', '.idea/a.xml', 'Readme.md', 'LICENSE']
    for (const file of own) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), 'own')
    }

    checkFolder(folder, folder)
    const lines = writeProject(folder, new Map([...files, ['README.md', 'template']]))

    for (const file of own) expect(readFileSync(join(folder, file), 'utf8')).toBe('own')
    expect(readdirSync(folder).sort()).toEqual(
      ['.git', '.idea', '.vscode', 'LICENSE', 'Readme.md', 'a.txt', 'b'].sort(),
    )
    expect(lines).toEqual(['Kept Readme.md as it is.'])
  })

  test('may have a .gitignore, which gets the missing lines', () => {
    const folder = scratch()
    writeFileSync(join(folder, '.gitignore'), '/node_modules\n*.tgz')

    checkFolder(folder, folder)
    writeProject(folder, new Map([['.gitignore', filesOf('Lendery').get('.gitignore') ?? '']]))
    execFileSync('git', ['init', '--quiet'], { cwd: folder })

    const ignored = ['node_modules/a', '.data/a', 'vendor/a.tgz', 'vendor/a', 'a.tgz'].filter(
      (path) => spawnSync('git', ['check-ignore', path], { cwd: folder }).status === 0,
    )
    expect(ignored).toEqual(['node_modules/a', '.data/a', 'a.tgz'])
    expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toMatch(/^\/node_modules\n\*\.tgz\ndist\/\n/)
  })

  test.each([
    ['lendery', 'lendery'],
    ['../my.apps/lendery-2', '../my.apps/lendery-2'],
    ['my app (1)', "'my app (1)'"],
    ['c#/ü', "'c#/ü'"],
    ["Ada's $HOME `id`", String.raw`'Ada'\''s $HOME ${'`id`'}'`],
    ['-rf', './-rf'],
    ['', "''"],
  ])('is printed for a shell: %s', (path, quoted) => {
    expect(quoteWord(path, 'linux')).toBe(quoted)
    expect(execFileSync('sh', ['-c', `printf %s ${quoted}`], { encoding: 'utf8' })).toBe(
      path === '-rf' ? './-rf' : path,
    )
  })

  test('is refused if the folder has files, is a file, or has no parent', () => {
    const folder = scratch()
    writeFileSync(join(folder, 'file'), '')

    expect(() => {
      checkFolder(folder, folder)
    }).toThrow('is not empty')
    expect(() => {
      checkFolder(join(folder, 'file'), folder)
    }).toThrow('is a file')
    expect(() => {
      checkFolder(join(folder, 'a/b'), folder)
    }).toThrow('does not exist')
  })

  test('is refused if a link leads to the folder', () => {
    const [folder, other] = [scratch(), scratch()]
    symlinkSync(other, join(folder, 'link'))
    symlinkSync(join(other, 'absent'), join(folder, 'dangling'))

    expect(() => {
      checkFolder(join(folder, 'link'), folder)
    }).toThrow('is a symbolic link')
    expect(() => {
      checkFolder(join(folder, 'dangling'), folder)
    }).toThrow('is a symbolic link')
    expect(() => {
      checkFolder(join(folder, 'link/new'), folder)
    }).toThrow('is a symbolic link')
    // Also from another working folder.
    expect(() => {
      checkFolder(join(folder, 'link'), other)
    }).toThrow('is a symbolic link')
  })

  test.each(['a.txt', 'b/c.txt'])(
    'keeps %s of another program, which writes at the same time, and no own file',
    (file) => {
      const folder = scratch()
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), 'other')

      expect(() => {
        writeFiles(folder, files)
      }).toThrow('EEXIST')

      expect(readdirSync(folder)).toEqual([file.split('/')[0]])
      expect(readFileSync(join(folder, file), 'utf8')).toBe('other')
    },
  )

  test.each(['a.txt', 'b'])('receives no file through the link %s', (name) => {
    const [folder, other] = [scratch(), scratch()]
    symlinkSync(name === 'b' ? other : join(other, 'new'), join(folder, name))

    expect(() => {
      writeFiles(folder, files)
    }).toThrow('EEXIST')

    expect(readdirSync(other)).toEqual([])
  })
})
