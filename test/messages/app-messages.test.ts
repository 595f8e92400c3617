// For import.meta.glob, which loads the catalogues.
/// <reference types="vite/types/importMeta.d.ts" />

import { describe, expect, test } from 'vitest'
import type { Language } from 'tallystick-contract'

import { languages } from '../../engine/contract/languages.ts'
import { loadTexts } from '../../engine/dev/page/texts.ts'
import { createTranslator } from '../../engine/dev/page/translator.ts'
import { negotiateLanguage } from '../../engine/texts/engine-texts.ts'
import { loadReferenceTexts } from '../../pages/docs/catalogues.ts'
import type { Page } from '../../src/messages/en.ts'
import { testCatalogue } from '../fixtures/catalogues.ts'

/** The English texts that are also words of other languages. */
const sharedTexts = [
  'Account',
  'Administrator',
  'Apps',
  'Code',
  'Description',
  'E-mail',
  'Menu',
  'Name',
  'Notes',
  'Person',
  'Status',
  '{field}:',
]

const ownCatalogues = import.meta.glob<Page>('../../src/messages/*.ts', { import: 'page', eager: true })
const ownTexts = (language: Language) => ({ ...ownCatalogues[`../../src/messages/${language}.ts`] })

const english = {
  page: await loadTexts('en'),
  reference: await loadReferenceTexts('en'),
  app: ownTexts('en'),
}
const catalogues = await Promise.all(
  languages.map(async (language) => ({
    language,
    page: await loadTexts(language),
    reference: await loadReferenceTexts(language),
    app: ownTexts(language),
  })),
)

describe.each(catalogues)('the catalogue $language of the page', ({ language, page, reference, app }) => {
  test('names the view in which the consent page says that access can be revoked', () => {
    expect(negotiateLanguage(language).translate('revocation')).toContain(page.devices)
  })

  describe.each([
    { name: 'every application', catalogue: { ...page }, english: { ...english.page } },
    { name: 'the reference page', catalogue: { ...reference }, english: { ...english.reference } },
    { name: 'the service', catalogue: app, english: english.app },
  ])('with the texts of $name', ({ catalogue, english }) => {
    const { t } = createTranslator(language, [{ language, texts: catalogue }])
    testCatalogue({ language, catalogue, english, translate: t, sharedTexts })
  })
})
