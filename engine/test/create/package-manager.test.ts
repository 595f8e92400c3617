import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'

import { findPackageManager, requirePackageManager } from '../../dev/create/package-manager.ts'

/** Returns a folder with files. */
function folderWith(files: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'tallystick-manager-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true })
  })
  for (const [file, text] of Object.entries({ 'package.json': '{}', ...files })) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  return folder
}

describe('the package manager of a project', () => {
  test.each([
    ['package-lock.json', 'npm'],
    ['npm-shrinkwrap.json', 'npm'],
    ['pnpm-lock.yaml', 'pnpm'],
    ['yarn.lock', 'yarn'],
    ['bun.lock', 'bun'],
    ['bun.lockb', 'bun'],
  ])('is known from %s: %s', (file, name) => {
    const folder = folderWith({ [file]: '' })

    expect(findPackageManager(folder)).toMatchObject({ name, lockFile: join(folder, file) })
  })

  test('is the one that package.json declares, before a lock file', () => {
    const folder = folderWith({
      'package.json': '{ "packageManager": "pnpm@10.4.0+sha512.aa" }',
      'package-lock.json': '',
    })

    expect(findPackageManager(folder)).toMatchObject({ name: 'pnpm', lockFile: undefined })
  })

  test('is npm without a lock file, and with an unknown declaration', () => {
    expect(findPackageManager(folderWith({}))).toMatchObject({ name: 'npm' })
    expect(findPackageManager(folderWith({ 'package.json': '{ "packageManager": "vlt@1" }' }))).toMatchObject(
      {
        name: 'npm',
      },
    )
  })

  test('is the one of the workspace, in the same repository', () => {
    const files = { 'pnpm-lock.yaml': '', 'packages/api/package.json': '{}' }
    const [inside, outside] = [folderWith({ ...files, '.git/HEAD': '' }), folderWith(files)]

    expect(findPackageManager(join(inside, 'packages/api'))).toMatchObject({
      name: 'pnpm',
      lockFile: join(inside, 'pnpm-lock.yaml'),
    })
    expect(findPackageManager(join(outside, 'packages/api'))).toMatchObject({ name: 'npm' })
  })

  test('must be in PATH', () => {
    const folder = folderWith({ 'yarn.lock': '', 'bin/npm': '' })
    vi.stubEnv('PATH', join(folder, 'bin'))
    onTestFinished(() => {
      vi.unstubAllEnvs()
    })

    expect(() => {
      requirePackageManager(findPackageManager(folder))
    }).toThrow(`uses yarn (${join(folder, 'yarn.lock')}), but yarn is not in PATH`)
    expect(() => {
      requirePackageManager(findPackageManager(folderWith({})))
    }).not.toThrow()
  })
})
