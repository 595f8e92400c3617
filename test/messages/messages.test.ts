import { describe, expect, test } from 'vitest'

import { scopes } from '../../contract/base.ts'
import { resourceNamesOf } from '../../contract/scopes.ts'
import { catalogues } from '../../src/messages/catalogues.ts'
import { languages, negotiateLanguage } from '../../src/messages/index.ts'
import { testCatalogue } from '../fixtures/catalogues.ts'

describe.each(languages)('the catalogue %s', (language) => {
  const { translate } = negotiateLanguage(language)

  testCatalogue({ language, catalogue: catalogues[language], english: catalogues.en, translate })

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

test('only the languages ar, fa and he are written from right to left', () => {
  const rtl = languages.filter((language) => negotiateLanguage(language).direction === 'rtl')

  expect(rtl).toEqual(['ar', 'fa', 'he'])
})

test('a resource without a translation has its English name', () => {
  expect(negotiateLanguage('de').translateResources(['tasks', 'old bookmarks'])).toBe(
    'Aufgaben und old bookmarks',
  )
})
