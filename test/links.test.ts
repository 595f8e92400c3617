import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const execute = promisify(execFile)

/** Checks the links of the given files. Returns the lines of the problems. */
async function check(files: Record<string, string>) {
  const folder = await mkdtemp(join(tmpdir(), 'tallystick-links-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await execute('git', ['init', '--quiet'], { cwd: folder })
  await mkdir(join(folder, 'docs'))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  const program = ['--import', 'tsx', '.config/links.ts', folder]
  return execute(process.execPath, program).then(
    () => [],
    (error: unknown) => (error as { stderr: string }).stderr.trim().split('\n'),
  )
}

const page = '# A page: `code` and *marks*\n\n## Again\n\n## Again\n'

test('links to files, headings, images and other sites are accepted', async () => {
  const problems = await check({
    'docs/page.md': page,
    'image.png': '',
    'README.md': `
[page](docs/page.md), [heading](docs/page.md#a-page-code-and-marks), [second](docs/page.md#again-1), [folder](docs)
![image](image.png) <img src="image.png"> [site](https://example.com/absent) [here](#here)

# Here

\`[in code](absent.md)\`
`,
  })

  expect(problems).toEqual([])
})

test('a missing file, heading or image is reported', async () => {
  const problems = await check({
    'docs/page.md': `${page}[up](absent.md)`,
    'README.md':
      '[file](absent.md) [heading](docs/page.md#again-2) [here](#here) ![image](absent.png) <img src="absent.svg">',
  })

  expect(problems).toEqual([
    'README.md: absent.md: no such file',
    'README.md: docs/page.md#again-2: no such heading',
    'README.md: #here: no such heading',
    'README.md: absent.png: no such file',
    'README.md: absent.svg: no such file',
    'docs/page.md: absent.md: no such file',
  ])
})
