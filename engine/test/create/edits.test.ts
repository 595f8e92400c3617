import { format } from 'prettier'
import { describe, expect, test } from 'vitest'

import { addTo, type Edits } from '../../dev/create/resources/edits.ts'
import { removeFrom } from '../../dev/create/resources/removals.ts'

const edits: Edits = {
  imports: [{ names: ['loans', 'loansTopic'], from: './loans.ts' }],
  entries: [
    { list: 'parts', codes: ["loans: read('loans')"] },
    { list: 'engine.topics', codes: ['loansTopic'] },
    { list: 'views', codes: ['loans'], before: '...others' },
    { list: 'contract', codes: ['loans'] },
  ],
}

const code = `import { define } from 'tallystick'

import { ideas } from './ideas.ts' // the sample

/** A comment with { and [ and 'quotes'. */
export const parts = {
  ideas: read('ideas'), // with { a comment
}

const engine = define({ topics: [ideasTopic], parts })
export const views = [
  ideas,
  // The views of the engine.
  ...others,
]

/** The order is the order of the reference. */
export const contract = { ...engine, ideas } satisfies Contract
`

const changed = `import { define } from 'tallystick'

import { ideas } from './ideas.ts' // the sample
import { loans, loansTopic } from './loans.ts'

/** A comment with { and [ and 'quotes'. */
export const parts = {
  ideas: read('ideas'), // with { a comment
  loans: read('loans'),
}

const engine = define({ topics: [ideasTopic, loansTopic], parts })
export const views = [
  ideas,
  loans,
  // The views of the engine.
  ...others,
]

/** The order is the order of the reference. */
export const contract = { ...engine, ideas, loans } satisfies Contract
`

const noSemicolons = { parser: 'typescript', semi: false, singleQuote: true } as const

describe('new entries of a file', () => {
  test('leave all other code as it is', () => {
    expect(addTo('index.ts', code, edits)).toBe(changed)
  })

  test('have the line ends of the file', () => {
    const crlf = (text: string) => text.replaceAll('\n', '\r\n')

    expect(addTo('index.ts', crlf(code), edits)).toBe(crlf(changed))
  })

  test.each([
    {},
    { semi: false },
    { singleQuote: true },
    { printWidth: 100 },
    { useTabs: true },
    { tabWidth: 4 },
    { trailingComma: 'none' as const },
    { bracketSpacing: true, objectWrap: 'collapse' as const },
  ])('look as Prettier formats the file with %j', async (options) => {
    const prettier = { parser: 'typescript', ...options }

    const result = addTo('index.ts', await format(code, prettier), edits)

    expect(result).toBe(await format(changed, prettier))
  })

  test('are written to empty lists', async () => {
    const empty = `import a from 'a'\nconst parts = {}\nconst engine = define({ topics: [] })\nconst views = [...others]\nconst contract = {\n  // Nothing yet.\n}\n`

    const result = addTo('index.ts', empty, edits)

    expect(result).toBe(
      `import a from 'a'\n\nimport { loans, loansTopic } from './loans.ts'\nconst parts = {\n  loans: read('loans'),\n}\nconst engine = define({ topics: [loansTopic] })\nconst views = [loans, ...others]\nconst contract = {\n  // Nothing yet.\n  loans,\n}\n`,
    )
    expect(await format(result ?? '', noSemicolons)).toBe(result)
  })

  test('write an object to several lines if its line becomes too long', async () => {
    const long = `import a from 'a'\n\nexport const contract = { ...engine, ideas, projects, tickets, comments, ab }\n`

    const result = addTo('index.ts', long, {
      imports: [],
      entries: [{ list: 'contract', codes: ['loans'] }],
    })

    expect(result).toContain('{\n  ...engine,\n  ideas,\n')
    expect(await format(result ?? '', noSemicolons)).toBe(result)
  })

  test.each([
    ['a list is missing', code.replace('const parts', 'const others')],
    ['a list is no literal', code.replace('{ ...engine, ideas }', 'create()')],
    ['there are no imports', 'const parts = {}\n'],
    ['the syntax has mistakes', `${code}\nmistake here`],
    ['the file is empty', ''],
  ])('are not written if %s', (_, text) => {
    expect(addTo('index.ts', text, edits)).toBeUndefined()
  })
})

describe('removed entries of a file', () => {
  test.each([
    {},
    { semi: false, singleQuote: true },
    { endOfLine: 'crlf' as const },
    { useTabs: true },
    { trailingComma: 'none' as const },
    { objectWrap: 'collapse' as const },
  ])('leave the file as it was, formatted by Prettier with %j', async (options) => {
    const before = await format(code, { parser: 'typescript', ...options })
    const after = addTo('index.ts', before, edits) ?? ''

    expect(after).not.toBe(before)
    expect(removeFrom('index.ts', after, edits)).toBe(before)
  })

  test('leave empty lists', () => {
    const empty = `import a from 'a'\n\nconst parts = {}\nconst engine = define({ topics: [] })\nconst views = [...others]\nconst contract = {\n  // Nothing yet.\n}\n`

    expect(removeFrom('index.ts', addTo('index.ts', empty, edits) ?? '', edits)).toBe(empty)
  })

  test('are kept if other code of the file uses the import, or if a list is missing', () => {
    expect(removeFrom('index.ts', `${changed}console.log(loansTopic)\n`, edits)).toBeUndefined()
    expect(removeFrom('index.ts', changed.replace('const views', 'const others'), edits)).toBeUndefined()
  })

  test('may be removed already', () => {
    expect(removeFrom('index.ts', code, edits)).toBe(code)
  })
})
