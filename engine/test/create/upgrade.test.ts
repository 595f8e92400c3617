import { describe, expect, test } from 'vitest'

import { findChanges, findSampleChanges } from '../../dev/create/upgrade/changes.ts'
import { diffTexts } from '../../dev/create/upgrade/git.ts'
import { mergeManifest } from '../../dev/create/upgrade/manifest.ts'

const format = (value: object) => `${JSON.stringify(value, null, 2)}\n`

describe('package.json of an upgraded project', () => {
  const merge = (current: object, base: object, next: object, needed: Record<string, string> = {}) => {
    const { content, ...changes } = mergeManifest({
      current: format(current),
      base: format(base),
      next: format(next),
      needed,
    })
    return { manifest: JSON.parse(content) as object, ...changes }
  }

  test('has the values of the template that the project has not changed', () => {
    const current = { name: 'lendery', version: '2.0.0', scripts: { dev: 'old', own: 'x' }, type: 'module' }
    const base = { name: 'example-app', version: '0.1.0', scripts: { dev: 'old', gone: 'y' }, type: 'module' }
    const next = { name: 'example-app', version: '0.2.0', scripts: { dev: 'new', added: 'z' }, type: 'other' }

    expect(merge(current, base, next).manifest).toEqual({
      name: 'lendery',
      version: '2.0.0',
      scripts: { dev: 'new', own: 'x', added: 'z' },
      type: 'other',
    })
  })

  test('keeps the values that the project has changed, and names the values of the template', () => {
    const result = merge(
      { scripts: { test: 'own' }, devDependencies: {} },
      { scripts: { test: 'old' }, devDependencies: { vite: '1.0.0' } },
      { scripts: { test: 'new' }, devDependencies: { vite: '2.0.0' } },
    )

    expect(result.manifest).toEqual({ scripts: { test: 'own' }, devDependencies: {} })
    expect(result.changed).toEqual([])
    expect(result.kept).toEqual([
      { path: 'scripts.test', from: 'own', to: 'new' },
      { path: 'devDependencies.vite', from: undefined, to: '2.0.0' },
    ])
  })

  test('loses a package that the template no longer has, unless the project has another version', () => {
    const base = { devDependencies: { esbuild: '1.0.0', vite: '1.0.0' } }

    const { manifest } = merge({ devDependencies: { esbuild: '1.0.0', vite: '1.1.0' } }, base, {})

    expect(manifest).toEqual({ devDependencies: { vite: '1.1.0' } })
  })

  test('has the versions that the engine needs, also of packages that the template moves or adds', () => {
    const result = merge(
      { dependencies: { tallystick: 'file:vendor/a.tgz', zod: '4.0.1' } },
      { dependencies: { tallystick: '1.0.0', zod: '4.0.0' } },
      {
        dependencies: { tallystick: '1.0.0', zod: '4.0.2' },
        devDependencies: { 'tallystick-tools': '1.0.0' },
      },
      {
        tallystick: 'file:vendor/b.tgz',
        'tallystick-tools': 'file:vendor/c.tgz',
        zod: '4.0.2',
        react: '19.0.0',
      },
    )

    expect(result.manifest).toEqual({
      dependencies: { tallystick: 'file:vendor/b.tgz', zod: '4.0.2' },
      devDependencies: { 'tallystick-tools': 'file:vendor/c.tgz' },
    })
    expect(result.kept).toEqual([])
  })

  test('keeps its indentation and its line ends', () => {
    const { content } = mergeManifest({
      current: '{\r\n\t"scripts": {\r\n\t\t"dev": "old"\r\n\t}\r\n}',
      base: format({ scripts: { dev: 'old' } }),
      next: format({ scripts: { dev: 'new' } }),
      needed: {},
    })

    expect(content).toBe('{\r\n\t"scripts": {\r\n\t\t"dev": "new"\r\n\t}\r\n}')
  })
})

describe('the changes of the template', () => {
  const choices = { name: 'Lendery', id: 'lendery' }
  /** Returns the changes for a project with files. */
  const changesFor = (
    base: Record<string, string>,
    next: Record<string, string>,
    project: Record<string, string>,
  ) =>
    findChanges(
      { version: '1.0.0', choices, files: new Map(Object.entries(base)) },
      new Map(Object.entries(next)),
      (file) => project[file],
    )
  const lines = (...words: string[]) => words.map((word) => `${word}\n`).join('')

  test('are merged with the changes of the project, with the names of the project', () => {
    const base = { 'a.ts': lines('one', 'two', 'three', 'four', 'five', 'Example App') }
    const next = { 'a.ts': lines('one', 'two', 'three', 'four', 'new', 'Example App') }
    const project = { 'a.ts': lines('own', 'two', 'three', 'four', 'five', 'Lendery') }

    expect(changesFor(base, next, project).changes).toEqual([
      {
        file: 'a.ts',
        before: project['a.ts'],
        after: lines('own', 'two', 'three', 'four', 'new', 'Lendery'),
        conflicts: 0,
      },
    ])
  })

  test('mark the lines that both have changed', () => {
    const { changes } = changesFor({ 'a.ts': 'one\n' }, { 'a.ts': 'new\n' }, { 'a.ts': 'own\n' })

    expect(changes).toMatchObject([
      { conflicts: 1, after: expect.stringContaining('<<<<<<< your file\nown\n') },
    ])
  })

  test('are none if the project has the changes already, also with Windows line ends', () => {
    const [base, next] = [{ 'a.ts': lines('one', 'two') }, { 'a.ts': lines('one', 'new') }]

    expect(changesFor(base, next, next)).toEqual({ changes: [], deleted: [] })
    expect(changesFor(base, next, { 'a.ts': 'one\r\nnew\r\n' }).changes).toEqual([])
    expect(changesFor(base, next, { 'a.ts': 'one\r\ntwo\r\n' }).changes).toMatchObject([
      { after: 'one\r\nnew\r\n', conflicts: 0 },
    ])
  })

  test('add new files, remove unchanged files, and leave out what the project has deleted', () => {
    const base = { 'gone.ts': 'a\n', 'own.ts': 'a\n', 'deleted.ts': 'a\n' }
    const next = { 'new.ts': 'b\n', 'deleted.ts': 'b\n' }

    expect(changesFor(base, next, { 'gone.ts': 'a\n', 'own.ts': 'changed\n' })).toEqual({
      changes: [
        { file: 'gone.ts', before: 'a\n', after: undefined, conflicts: 0 },
        { file: 'new.ts', before: undefined, after: 'b\n', conflicts: 0 },
      ],
      deleted: ['deleted.ts'],
    })
  })

  test('of the sample resource are shown to projects without the sample', () => {
    const files = { 'db/ideas.ts': 'ideas old\n', 'contract/ideas.ts': 'ideas\n' }
    const template = new Map(Object.entries({ ...files, 'db/ideas.ts': 'ideas new\n' }))
    const record = {
      version: '1.0.0',
      choices: { ...choices, bare: true as const },
      files: new Map(Object.entries(files)),
    }

    expect(findChanges(record, template, () => undefined)).toEqual({ changes: [], deleted: [] })
    expect(findSampleChanges(record, template, () => undefined)).toEqual([
      { file: 'db/ideas.ts', before: 'ideas old\n', after: 'ideas new\n', conflicts: 0 },
    ])
  })

  test('are printed as a patch that git applies', () => {
    const patch = diffTexts(
      new Map([['a/b.ts', 'one\n']]),
      new Map([
        ['a/b.ts', 'two\n'],
        ['c.ts', 'new\n'],
      ]),
    )

    expect(patch).toContain('--- a/a/b.ts\n+++ b/a/b.ts\n@@ -1 +1 @@\n-one\n+two\n')
    expect(patch).toContain('--- /dev/null\n+++ b/c.ts\n')
    expect(patch).not.toContain('.keep')
  })
})
