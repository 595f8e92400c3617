import { IntlMessageFormat } from 'intl-messageformat'
import { describe, expect, test } from 'vitest'

import { scopes } from '../contract/base.ts'
import { resourceNamesOf } from '../contract/scopes.ts'
import { catalogues } from '../src/messages/catalogues.ts'
import { isMessage, languages, type Message, negotiateLanguage } from '../src/messages/index.ts'

const messages = Object.keys(catalogues.en).filter(isMessage)
const others = languages.filter((language) => language !== 'en')

/** The nodes of a parsed message that have a value: arguments and plurals, also inside plurals. */
interface Node {
  value?: unknown
  options?: Record<string, { value: Node[] }>
}

const isNode = (node: unknown): node is Node => typeof node === 'object' && node !== null

/** The type of a plain text in a parsed message. All other types have an argument. */
const LITERAL = 0

const argumentsIn = (nodes: Node[]): string[] =>
  nodes.flatMap((node) => {
    const own = 'type' in node && node.type !== LITERAL && typeof node.value === 'string' ? [node.value] : []
    return [...own, ...Object.values(node.options ?? {}).flatMap(({ value }) => argumentsIn(value))]
  })

function argumentsOf(text: string, language: string) {
  const nodes: unknown[] = new IntlMessageFormat(text, language).getAst()
  return [...new Set(argumentsIn(nodes.filter(isNode)))].sort()
}

const numbers = ['guests', 'min', 'max', 'minutes']
const valuesOf = (message: Message) =>
  Object.fromEntries(
    argumentsOf(catalogues.en[message], 'en').map((name) => [name, numbers.includes(name) ? 7 : `<${name}>`]),
  )

describe.each(languages)('the catalogue %s', (language) => {
  const catalogue = catalogues[language]
  const { translate } = negotiateLanguage(language)
  const digits = new Intl.NumberFormat(language)

  test('has the arguments of the English catalogue in every message', () => {
    const different = messages.filter(
      (message) =>
        argumentsOf(catalogue[message], language).join() !== argumentsOf(catalogues.en[message], 'en').join(),
    )

    expect(different).toEqual([])
  })

  test('formats every message with every value', () => {
    for (const message of messages) {
      const values = valuesOf(message)
      const text = translate(message, values)
      for (const value of Object.values(values))
        expect(text, message).toContain(typeof value === 'number' ? digits.format(value) : value)
      expect(text.trim(), message).toBe(text)
      expect(text, message).not.toMatch(/[{}#]|undefined/)
    }
  })

  test('has a form for every plural category of the language', () => {
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions()
    const incomplete = messages.filter((message) => {
      const text = catalogue[message]
      return text.includes('plural,') && !pluralCategories.every((category) => text.includes(`${category} {`))
    })

    expect(incomplete).toEqual([])
  })

  test('begins the subject of the e-mail with the code', () => {
    expect(translate('letterSubject', { code: '123456' })).toMatch(/^123456\b/)
  })

  test('has different texts for “Allow” and “Deny”', () => {
    expect(translate('allow')).not.toBe(translate('deny'))
  })

  test('names every resource', () => {
    const { translateResources } = negotiateLanguage(language)
    for (const scope of scopes) {
      const names = resourceNamesOf(scope)
      const list = translateResources(names)
      for (const name of names) expect(list).toContain(translateResources([name]))
    }
  })
})

test.each(others)('no message of the catalogue %s is the English text', (language) => {
  const untranslated = messages.filter((message) => catalogues[language][message] === catalogues.en[message])

  expect(untranslated).toEqual([])
})

test('only the languages ar, fa and he are written from right to left', () => {
  const rtl = languages.filter((language) => negotiateLanguage(language).direction === 'rtl')

  expect(rtl).toEqual(['ar', 'fa', 'he'])
})

test('a resource without a translation has its English name', () => {
  expect(negotiateLanguage('de').translateResources(['tasks', 'old bookmarks'])).toBe(
    'Aufgaben und old bookmarks',
  )
})

test('no text contains markup or a bidirectional control character', () => {
  const texts = languages.flatMap((language) => Object.values(catalogues[language]))

  // ZERO WIDTH NON-JOINER is a letter of Persian orthography.
  for (const text of texts) expect(text).not.toMatch(/[<>&\u200B\u200D-\u200F\u202A-\u202E\u2066-\u2069]/)
})
