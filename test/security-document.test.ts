import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const document = readFileSync('docs/security.md', 'utf8')

/** The file and the title of every test that the table of docs/security.md quotes. */
function quotedTests(text: string) {
  let file = ''
  return text
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .flatMap((line) => Array.from((line.split('|')[4] ?? '').matchAll(/(?:([\w-]+): )?“(.+?)”(?=; |\s*$)/g)))
    .map(([, name, title = '']) => {
      file = name ?? file
      return [`test/${file}.test.ts`, title] as const
    })
}

describe('docs/security.md', () => {
  test('quotes tests, by file and title', () => {
    const row = '| a stranger | a session | the cookie is signed | auth: “one; two”; “three”; laws: “four” |'

    expect(quotedTests(row)).toEqual([
      ['test/auth.test.ts', 'one; two'],
      ['test/auth.test.ts', 'three'],
      ['test/laws.test.ts', 'four'],
    ])
    expect(quotedTests(document).length).toBeGreaterThan(100)
  })

  test.each(quotedTests(document))('quotes a test that exists: %s, %s', (file, title) => {
    const source = readFileSync(file, 'utf8').replaceAll("\\'", "'")

    expect(["'", '`', '"'].some((quote) => source.includes(quote + title + quote))).toBe(true)
  })
})
