import { describe, expect, test } from 'vitest'

import { scopes } from '../../contract/meta.ts'
import { app } from '../../src/app.ts'
import { catalogues, findText, isMessage } from '../../src/translation/catalogues.ts'
import { languages, negotiateLanguage } from '../../src/translation/index.ts'
import { testCatalogue } from '../fixtures/catalogues.ts'

const english = catalogues.en

/** Selects the texts with a translation, in the order of the English texts. */
const translatedIn = (translations: object) =>
  Object.fromEntries(Object.entries(english.resources).filter(([name]) => Object.hasOwn(translations, name)))

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
      sharedTexts: ['account', 'notes'],
    })
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
  for (const message of Object.keys(english.resources).filter(isMessage)) {
    const missing = languages.filter((language) => !Object.hasOwn(catalogues[language].resources, message))
    for (const language of missing) expect(findText(language, message)).toEqual(findText('en', message))
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
  expect(negotiateLanguage('de').translateResources(['tasks', 'old bookmarks'])).toBe(
    'Aufgaben und old bookmarks',
  )
})
