import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'

import { uniqueVersion } from '../../dev/create/version.ts'

function scratch() {
  const folder = mkdtempSync(join(tmpdir(), 'tallystick-version-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true })
  })
  return folder
}

const git = (folder: string, ...words: string[]) =>
  execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...words], {
    cwd: folder,
    encoding: 'utf8',
  }).trim()

/** A repository with one commit of `engine.txt` and of `readme.txt`. */
function repository() {
  const folder = scratch()
  git(folder, 'init', '--quiet')
  for (const file of ['engine.txt', 'readme.txt']) writeFileSync(join(folder, file), 'first')
  git(folder, 'add', '.')
  git(folder, 'commit', '--quiet', '--message', 'first')
  return { folder, commit: () => git(folder, 'rev-parse', '--short=7', 'HEAD') }
}

const versionOf = (folder: string, hash = '01234567ffff', version = '1.0.0') =>
  uniqueVersion(version, { folder, paths: ['engine.txt'], hash: () => hash })

describe('the version of a build', () => {
  test('names the commit', () => {
    const { folder, commit } = repository()

    expect(versionOf(folder)).toBe(`1.0.0-g${commit()}`)
    expect(versionOf(folder, '', '2.0.0-beta.1')).toBe(`2.0.0-beta.1.g${commit()}`)
  })

  test('names the last commit that changed the sources', () => {
    const { folder, commit } = repository()
    const first = commit()
    writeFileSync(join(folder, 'readme.txt'), 'second')
    git(folder, 'commit', '--quiet', '--all', '--message', 'second')

    expect(versionOf(folder)).toBe(`1.0.0-g${first}`)
  })

  test('has a hash of the content if the sources differ from the commit', () => {
    const { folder, commit } = repository()
    writeFileSync(join(folder, 'engine.txt'), 'second')

    expect(versionOf(folder)).toBe(`1.0.0-g${commit()}.d01234567`)
    expect(versionOf(folder, '89abcdef')).toBe(`1.0.0-g${commit()}.d89abcdef`)
  })

  test('is a hash of the content without a repository, and in a repository that ignores the sources', () => {
    const { folder } = repository()
    git(folder, 'rm', '--quiet', 'engine.txt')
    writeFileSync(join(folder, '.gitignore'), 'ignored')
    git(folder, 'add', '.')
    git(folder, 'commit', '--quiet', '--message', 'ignored')
    const hash = () => '01234567ffff'

    expect(versionOf(scratch())).toBe('1.0.0-d01234567')
    expect(uniqueVersion('1.0.0', { folder, paths: ['ignored'], hash })).toBe('1.0.0-d01234567')
  })
})
