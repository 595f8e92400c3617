import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

import { accountPaths } from '../dev/page/paths.ts'
import { readPaths } from '../dev/project/page-paths.ts'

function write(files: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'tallystick-paths-test-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true })
  })
  mkdirSync(join(folder, 'views'))
  for (const [file, code] of Object.entries(files)) writeFileSync(join(folder, file), code)
  return join(folder, 'views.ts')
}

test('the paths of views are read from the sources, in their order', () => {
  const file = write({
    'views.ts': `
      import { accountViews as engineViews, accountViews, view } from 'tallystick-dev/page'
      import { home } from './views/home.tsx'
      import { lists as others } from './views/lists.tsx'
      const own = view({ path: '/own', title: 'own', Content: lazy(() => import('./own.tsx')) })
      export const views = [home, own, ...others, ...accountViews, view({ path: "/last" })] satisfies View[]`,
    'views/home.tsx': `export const home = view({ path: '/', title: 'home', Content: () => <p /> })`,
    'views/lists.tsx': `export const lists = [view({ path: '/a' }), view({ path: '/b' })]`,
  })

  expect(readPaths(file)).toEqual(['/', '/own', '/a', '/b', ...accountPaths, '/last'])
})

test.each([
  ['a path that is no text literal', 'export const views = [\n  view({ path: base }),\n]', 'views.ts:2: '],
  ['an unknown name', 'export const views = [unknown]', 'views.ts:1: '],
  ['no list of views', 'export const others = []', 'has no constant `views`'],
  ['mistakes', 'export const views = [', 'is missing, or has mistakes'],
])('%s is an error with the place', (_, code, message) => {
  expect(() => readPaths(write({ 'views.ts': code }))).toThrow(message)
})

test('the views that every application has have the paths that the build knows', () => {
  expect(readPaths('engine/dev/page/views.ts', 'accountViews')).toEqual(accountPaths)
})
