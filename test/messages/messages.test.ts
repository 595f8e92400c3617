import { describe, expect, test } from 'vitest'

import { languages } from '../../engine/contract/languages.ts'
import { scopes } from '../../engine/contract/meta.ts'
import { namesOf } from '../../engine/app/scope-resources.ts'
import * as engine from '../../engine/texts/engine-texts.ts'
import { app } from '../../src/app.ts'
import { createPageTranslator } from '../../engine/html/page-translator.ts'
import { catalogues, negotiateLanguage } from '../../src/texts.ts'
import { createTranslation } from '../../engine/texts/translation.ts'
import { testCatalogue } from '../fixtures/catalogues.ts'

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
  describe('about operations', () => {
    testCatalogue({ language, catalogue: catalogues[language], english: catalogues.en, translate })
  })
})

describe.each(languages)('the names of resources in %s', (language) => {
  test.each(['tasks', 'notes'])('has a name of %s, in the script of the language', (resource) => {
    const { [language]: name, en } = app.resources[resource]?.names ?? { en: '' }

    expect(name).toMatch(/^[\p{L}\p{M}\p{Zs}\u200c]+$/u)
    // The French and the English word for notes are the same.
    if (!['en', 'fr'].includes(language)) expect(name).not.toBe(en)
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

test('the consent page names resources of the engine and of the application', () => {
  const { tasks, account } = app.resources
  const names = [tasks, account].flatMap((resource) => resource?.names ?? [])

  expect(createPageTranslator(app, 'de').translateResources(names)).toBe('Aufgaben und Konto')
})

test('a resource without names has the words of its name in the contract', () => {
  expect(namesOf('oldBookmarks', { description: '', procedures: {} })).toEqual({ en: 'old bookmarks' })
})

test('resources with one name have one entry on the consent page', () => {
  expect(app.scopeResources.read.map(({ en }) => en)).toEqual(['tasks', 'notes', 'account'])
})

test('two translations can have different texts for one message', () => {
  const [first, second] = ['One', 'Two'].map((text) => createTranslation({ en: { text } }))

  expect(first?.negotiateLanguage('de').translate('text')).toBe('One')
  expect(second?.negotiateLanguage('de').translate('text')).toBe('Two')
})

test.each(['unknown', 'toString'])('an unknown message is an error: %s', (message) => {
  expect(() => negotiateLanguage('de').translate(message)).toThrow(`Unknown message ${message}`)
})
