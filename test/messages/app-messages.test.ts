// For import.meta.glob, which loads the catalogues.
/// <reference types="vite/types/importMeta.d.ts" />

import { describe } from 'vitest'

import { createTranslator, loadCatalogue } from '../../app/translator.ts'
import { languages } from '../../engine/contract/languages.ts'
import { testCatalogue } from '../fixtures/catalogues.ts'

/** The English texts that are also words of other languages. */
const sharedTexts = [
  'Account',
  'Administrator',
  'Apps',
  'Code',
  'Description',
  'E-mail',
  'Name',
  'Notes',
  'Status',
]

const english = await loadCatalogue('en')
const catalogues = await Promise.all(
  languages.map(async (language) => ({ language, catalogue: await loadCatalogue(language) })),
)

describe.each(catalogues)('the catalogue $language of the page', ({ language, catalogue }) => {
  testCatalogue({
    language,
    catalogue,
    english,
    translate: createTranslator(language, catalogue).t,
    sharedTexts,
  })
})
