import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

import { executeDocument } from '../fixtures/document.ts'

const DOCUMENT = 'docs/help-desk.md'
const DOORS = 'docs/doors.md'

/** Counts the lines that the changes of a document add to files of some folders. */
function countAddedLines(text: string, folders: readonly string[]) {
  const changes = Array.from(
    text.matchAll(/^--- a\/(\w+)\/.*\n\+\+\+ .*\n((?:[ +@-].*\n|\n)*?)(?=--- a|```)/gm),
  )
  return changes
    .filter(([, folder = '']) => folders.includes(folder))
    .flatMap(([, , change = '']) => change.split('\n'))
    .filter((line) => line.startsWith('+')).length
}

test(
  'the steps of docs/help-desk.md, docs/doors.md and docs/webhooks.md create a help desk, with few lines by hand',
  { timeout: 1_800_000 },
  async () => {
    const text = readFileSync(DOCUMENT, 'utf8')
    const lines = countAddedLines(text, ['contract', 'db', 'src'])
    expect(lines).toBeGreaterThan(150)
    expect(lines).toBeLessThanOrEqual(350)

    const [, files = ''] = readFileSync(DOORS, 'utf8').split('## Files')
    expect(countAddedLines(files, ['contract', 'db', 'src'])).toBeLessThanOrEqual(40)

    let all = ''
    await executeDocument(
      [DOCUMENT, DOORS, 'docs/webhooks.md'],
      { '../tallystick': process.cwd() },
      (_body, { output }) => {
        all = output()
        return Promise.resolve()
      },
      'help-desk',
    )

    expect(all.match(/Test Files .*\d passed/g)).toMatchObject([
      expect.stringContaining('5 passed'),
      expect.stringContaining('5 passed'),
      expect.stringContaining('1 passed'),
      expect.stringContaining('11 passed'),
      expect.stringContaining('13 passed'),
      expect.stringContaining('1 passed'),
    ])
  },
)
