import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { readManifest, run } from '../fixtures/installation.ts'
import { createNewerClone, edit, NEWER } from '../fixtures/newer-clone.ts'
import { commandOf, createProject, git, runInProject } from '../fixtures/project.ts'

let folder: string
/** A project with own changes. */
let project: string
/** A clone of Tallystick with a newer engine. */
let clone: string

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
  await createNewerClone(clone, project)
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
      `tallystick-dev-${NEWER}.tgz`,
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
