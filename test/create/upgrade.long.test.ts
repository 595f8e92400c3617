import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { readManifest, run } from '../fixtures/installation.ts'
import { commandOf, createProject, git, runInProject } from '../fixtures/project.ts'

let folder: string
/** A project with own changes. */
let project: string
/** A clone of Tallystick with a newer engine. */
let clone: string

const NEWER = '1.0.0-gfeedbee'

/** Changes a file in a folder. */
async function edit(path: string, change: (text: string) => string) {
  const text = await readFile(path, 'utf8')
  const changed = change(text)
  expect(changed).not.toBe(text)
  await writeFile(path, changed)
}

/** Writes the built packages with another version, with a mark in the engine, and with changes of the template. */
async function createClone(path: string) {
  const packages = join(path, 'dist/packages')
  await cp('dist/packages', packages, { recursive: true })
  await cp('dist/start', join(path, 'dist/start'), { recursive: true })
  await cp('package.json', join(path, 'package.json'))
  await symlink(resolve('node_modules'), join(path, 'node_modules'))
  const { version } = await readManifest(project, 'tallystick').then(
    (manifest) => manifest as { version: string },
  )
  for (const name of await readdir(packages))
    await edit(join(packages, name, 'package.json'), (text) => text.replaceAll(version, NEWER))
  const engine = join(packages, 'tallystick')
  await writeFile(join(engine, 'dist/mark.txt'), 'newer')
  const template = join(engine, 'template')
  await edit(join(template, 'package.json'), (text) =>
    text.replace('"test": "vitest run",', '"test": "vitest run",\n    "test:watch": "vitest",'),
  )
  await edit(join(template, 'src/app.ts'), (text) => text.replace("version: '0.1.0'", "version: '0.2.0'"))
  await edit(join(template, 'vitest.config.ts'), (text) => text.replaceAll('60_000', '90_000'))
  await writeFile(join(template, 'NEW.md'), 'New\n')
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tallystick-upgrade-'))
  project = join(folder, 'lendery')
  clone = join(folder, 'tallystick')
  await createProject(project, '--name', 'Lendery')
  await edit(join(project, 'src/app.ts'), (text) => `${text}\nexport const own = 'Lends books.'\n`)
  await edit(join(project, 'vitest.config.ts'), (text) => text.replaceAll('60_000', '30_000'))
  await edit(join(project, 'package.json'), (text) =>
    text.replace('"dev": "tallystick dev"', '"dev": "echo own"'),
  )
  await git(project, 'init', '--quiet')
  await git(project, 'add', '.')
  await git(project, 'commit', '--quiet', '--message', 'own changes')
  await createClone(clone)
}, 600_000)

afterAll(() => rm(folder, { recursive: true, force: true }))

const upgrade = (...words: string[]) => runInProject(project, 'upgrade', ...words)

/** The files that differ from the last commit. */
const changedFiles = async () =>
  (await git(project, 'status', '--porcelain', '--untracked-files=all')).stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => line.slice(3))
    .sort()

describe('tallystick upgrade', { timeout: 600_000 }, () => {
  test('restores the project if the packages cannot be installed', async () => {
    const bin = await mkdtemp(join(folder, 'bin-'))
    // npm packs, but does not install.
    await writeFile(
      join(bin, 'npm'),
      `#!/bin/sh\n[ "$1" = install ] && exit 1\nexec node ${await realNpm()} "$@"\n`,
      { mode: 0o755 },
    )
    const env = { ...process.env, PATH: `${bin}:${process.env.PATH ?? ''}` }

    await expect(
      run(process.execPath, [commandOf(project), 'upgrade', '--from', clone], { cwd: project, env }),
    ).rejects.toMatchObject({ stderr: expect.stringContaining('npm could not install the packages.') })

    expect(await changedFiles()).toEqual([])
  })

  test('installs the newer engine, shows the changes of the template, and checks the project', async () => {
    const { stdout } = await upgrade('--from', clone)

    expect(await readManifest(project, 'tallystick')).toMatchObject({ version: NEWER })
    expect(await readFile(join(project, 'node_modules/tallystick/dist/mark.txt'), 'utf8')).toBe('newer')
    expect((await readdir(join(project, 'vendor'))).sort()).toEqual([
      `tallystick-${NEWER}.tgz`,
      `tallystick-contract-${NEWER}.tgz`,
      'template.json',
    ])
    const manifest = JSON.parse(await readFile(join(project, 'package.json'), 'utf8')) as object
    expect(manifest).toMatchObject({
      name: 'lendery',
      scripts: { dev: 'echo own', 'test:watch': 'vitest' },
      dependencies: { tallystick: `file:vendor/tallystick-${NEWER}.tgz` },
    })
    expect(stdout).toContain("-  version: '0.1.0',\n+  version: '0.2.0',")
    expect(stdout).toContain('  src/app.ts: take over the lines of the diff.')
    expect(stdout).toContain('  vitest.config.ts: choose between your lines and the lines of the template.')
    expect(stdout).toContain('  NEW.md: new. Add the file if you need it.')
    expect(stdout).toMatch(/npm run check….*The check succeeds\./s)
    // Only the packages are changed.
    expect((await changedFiles()).filter((file) => !file.startsWith('vendor/'))).toEqual([
      'package-lock.json',
      'package.json',
    ])
  })

  test('works in a clean installation of the changed lock file', async () => {
    await run('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: project })

    expect(await readManifest(project, 'tallystick')).toMatchObject({ version: NEWER })
  })

  test('shows the changes again until they are in the files, and --apply writes them', async () => {
    const again = await upgrade()
    const applied = upgrade('--apply')
    // The marks of the conflict are no code.
    await expect(applied).rejects.toMatchObject({ stdout: expect.stringContaining('The check fails.') })
    await edit(join(project, 'vitest.config.ts'), (text) =>
      text.replace(/<<<<<<<.*\n([^]*?)=======\n[^]*?>>>>>>>.*\n/, '$1'),
    )
    const last = await upgrade()

    expect(again.stdout).toContain(`The engine of the project is ${NEWER} already.`)
    expect(again.stdout).toContain("+  version: '0.2.0',")
    const code = await readFile(join(project, 'src/app.ts'), 'utf8')
    expect(code).toContain("version: '0.2.0'")
    expect(code).toContain('Lends books.')
    expect(await readFile(join(project, 'vitest.config.ts'), 'utf8')).toContain('30_000')
    expect(await readFile(join(project, 'NEW.md'), 'utf8')).toBe('New\n')
    expect(last.stdout).toContain('Your files have all changes of the template.')
  })

  test('fails if the check fails', async () => {
    await edit(join(project, 'src/app.ts'), (text) => `${text}\nexport const mistake: string = 1\n`)

    await expect(upgrade()).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringContaining('The check fails.'),
    })
  })

  test('says what to do without a built clone', async () => {
    await expect(upgrade('--from', folder)).rejects.toMatchObject({
      stderr: expect.stringContaining(
        'is no built clone of Tallystick. In a clone of Tallystick, run: npm ci',
      ),
    })
  })
})

/** The program behind `npm`. */
async function realNpm() {
  const { stdout } = await run('npm', ['root', '--global'])
  return join(stdout.trim(), 'npm/bin/npm-cli.js')
}
