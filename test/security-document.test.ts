import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, test } from 'vitest'

const securityDocument = readFileSync('docs/security.md', 'utf8')

/** The paths of all files with tests by the name that docs/security.md uses: `sign-in`. */
const testFiles = new Map(
  ['test', 'engine/test'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.test.ts'))
      .map((path) => [basename(path).split('.')[0], `${folder}/${path}`] as const),
  ),
)
// test/laws.test.ts has only the cases of the laws.
testFiles.set('laws', 'engine/testing/laws/index.ts')

/** Lists the cells of each table row that begins with the number of a threat, for example `T1`. */
const listThreatRows = (text: string) =>
  text
    .split('\n')
    .filter((line) => /^\| T\d+ /.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()))

/** Lists the file and the title of each quoted test. A file name applies to all titles up to the next file name. */
function listQuotedTests(text: string) {
  let file = ''
  return listThreatRows(text)
    .flatMap(([, , tests = '']) => Array.from(tests.matchAll(/(?:([\w-]+): )?“(.+?)”(?=; |$)/g)))
    .map(([, name, title = '']) => {
      file = name ?? file
      return [file, title] as const
    })
}

describe('docs/security.md', () => {
  test('quotes tests by file and title', () => {
    const row = '| T7 | auth: “one; two”; “three”; laws: “four” |'

    expect(listQuotedTests(row)).toEqual([
      ['auth', 'one; two'],
      ['auth', 'three'],
      ['laws', 'four'],
    ])
    expect(listQuotedTests(securityDocument).length).toBeGreaterThan(100)
  })

  test('quotes tests for every threat', () => {
    const rows = listThreatRows(securityDocument)
    const listNumbers = (columns: number) =>
      rows.filter((cells) => cells.length === columns + 2).map(([, number]) => number)
    const threats = listNumbers(3)
    const tested = listNumbers(2)

    expect(threats.length).toBeGreaterThan(40)
    expect(tested).toEqual(threats)
  })

  test.each(listQuotedTests(securityDocument))('quotes an existing test: %s, %s', (file, title) => {
    const source = readFileSync(testFiles.get(file) ?? file, 'utf8').replaceAll("\\'", "'")

    expect(["'", '`', '"'].some((quote) => source.includes(quote + title + quote))).toBe(true)
  })
})
