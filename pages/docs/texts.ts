import { createTexts, useAppLanguage } from '../../engine/dev/page/language.tsx'
import type { Message } from '../../engine/dev/page/texts.ts'
import type { Translator } from '../../engine/dev/page/translator.ts'
import { loadReferenceTexts } from './catalogues.ts'
import type { Texts } from './messages/en.ts'

export const referenceTexts = createTexts(loadReferenceTexts)

/** The texts of the page, and of every page. */
export const useReferenceTexts = (): Translator<Message | keyof Texts> =>
  useAppLanguage().languageOf(referenceTexts)
