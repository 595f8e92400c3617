import { describe, expect, test } from 'vitest'

import { languages } from '../../engine/contract/languages.ts'
import { scopes } from '../../engine/contract/meta.ts'
import * as engine from '../../engine/texts.ts'
import { app } from '../../src/app.ts'
import { createPageTranslator } from '../../engine/html/page-translator.ts'
import { catalogues, messages, negotiateLanguage } from '../../src/texts.ts'
import { createTranslation, findText } from '../../engine/translation/index.ts'
import { testCatalogue } from '../fixtures/catalogues.ts'

const english = catalogues.en

/** Selects the texts with a translation, in the order of the English texts. */
const translatedIn = (translations: object) =>
  Object.fromEntries(Object.entries(english.resources).filter(([name]) => Object.hasOwn(translations, name)))

describe.each(languages)('the texts of the engine in %s', (language) => {
  const { translate } = engine.negotiateLanguage(language)

  testCatalogue({
    language,
    catalogue: engine.catalogues[language],
    english: engine.catalogues.en,
    translate,
    sharedTexts: ['account'],
  })

  test('begins the subject of the e-mail with the code', () => {
    expect(translate('letterSubject', { code: '123456' })).toMatch(/^123456\b/)
  })

  test('has different texts for “Allow” and “Deny”', () => {
    expect(translate('allow')).not.toBe(translate('deny'))
  })
})

describe.each(languages)('the texts of the server in %s', (language) => {
  const { translate } = negotiateLanguage(language)
  const { operations, resources } = catalogues[language]

  describe('about operations', () => {
    testCatalogue({ language, catalogue: operations, english: english.operations, translate })
  })

  describe('about resources', () => {
    testCatalogue({
      language,
      catalogue: Object.fromEntries(Object.entries(resources)),
      english: translatedIn(resources),
      translate,
      sharedTexts: ['notes'],
    })
  })
})

describe.each(languages)('the consent page in %s', (language) => {
  test('names every resource', () => {
    const { translateResources } = createPageTranslator(app, language)
    for (const scope of scopes) {
      const names = app.scopeResources[scope]
      const list = translateResources(names)
      for (const name of names) expect(list).toContain(translateResources([name]))
    }
  })
})

test('only the languages ar, fa and he are written from right to left', () => {
  const rtl = languages.filter((language) => negotiateLanguage(language).direction === 'rtl')

  expect(rtl).toEqual(['ar', 'fa', 'he'])
})

test('every text of resources that has no translation is English, with a warning', () => {
  for (const message of Object.keys(english.resources)) {
    const missing = languages.filter((language) => !Object.hasOwn(catalogues[language].resources, message))
    for (const language of missing)
      expect(findText(messages, language, message)).toEqual(findText(messages, 'en', message))
    if (missing.length > 0)
      console.warn(
        `src/messages/ has no translation of “${message}” in ${missing.join(', ')}: add it to these files`,
      )
  }
})

test('texts of operations and of resources have different keys', () => {
  const keys = Object.keys(english.resources)

  expect(keys.filter((key) => Object.hasOwn(english.operations, key))).toEqual([])
})

test('a resource without any name has the name of its path', () => {
  expect(createPageTranslator(app, 'de').translateResources(['tasks', 'old bookmarks'])).toBe(
    'Aufgaben und old bookmarks',
  )
})

test('the consent page names resources of the engine and of the application', () => {
  expect(createPageTranslator(app, 'de').translateResources(['tasks', 'account'])).toBe('Aufgaben und Konto')
})

test('a text of a page is not the name of a resource', () => {
  expect(createPageTranslator(app, 'de').translateResources(['website'])).toBe('website')
})

test('two translations can have different texts for one message', () => {
  const [first, second] = ['One', 'Two'].map((text) => createTranslation({ en: { text } }))

  expect(first?.negotiateLanguage('de').translate('text')).toBe('One')
  expect(second?.negotiateLanguage('de').translate('text')).toBe('Two')
})

test.each(['unknown', 'toString'])('an unknown message is an error: %s', (message) => {
  expect(() => negotiateLanguage('de').translate(message)).toThrow(`Unknown message ${message}`)
})
