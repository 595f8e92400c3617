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
testFiles.set('laws', 'engine/dev/testing/laws/index.ts')

/** Lists the numbered threats, for example `T1`, and the text about their tests. */
const listThreats = (text: string) =>
  Array.from(text.matchAll(/^- \*\*(T\d+)\. .+?(?=^- |^#|$(?![^]))/gms), ([entry, number = '']) => ({
    number,
    tests: entry.replaceAll(/\s+/g, ' ').split(' - Tests: ')[1]?.trim() ?? '',
  }))

/** Lists the file and the title of each quoted test. A file name applies to all titles up to the next file name. */
function listQuotedTests(text: string) {
  let file = ''
  return listThreats(text)
    .flatMap(({ tests }) => Array.from(tests.matchAll(/(?:([\w-]+): )?“(.+?)”(?=; |$)/g)))
    .map(([, name, title = '']) => {
      file = name ?? file
      return [file, title] as const
    })
}

describe('docs/security.md', () => {
  test('quotes tests by file and title', () => {
    const entries =
      '- **T7. Threat.** Protection.\n  - Tests: auth: “one;\n    two”; “three”; laws: “four”\n- **T8. Threat.**\n\n# T9\n'

    expect(listThreats(entries).map(({ number }) => number)).toEqual(['T7', 'T8'])
    expect(listQuotedTests(entries)).toEqual([
      ['auth', 'one; two'],
      ['auth', 'three'],
      ['laws', 'four'],
    ])
    expect(listQuotedTests(securityDocument).length).toBeGreaterThan(100)
  })

  test('quotes tests for every threat', () => {
    const threats = listThreats(securityDocument)

    expect(threats.length).toBeGreaterThan(40)
    expect(threats.map(({ number }) => number)).toEqual(threats.map((_, index) => `T${index + 1}`))
    expect(threats.filter(({ tests }) => !tests.includes('“'))).toEqual([])
  })

  test.each(listQuotedTests(securityDocument))('quotes an existing test: %s, %s', (file, title) => {
    const source = readFileSync(testFiles.get(file) ?? file, 'utf8').replaceAll("\\'", "'")

    expect(["'", '`', '"'].some((quote) => source.includes(quote + title + quote))).toBe(true)
  })
})
