import type { Language } from 'tallystick-contract'

import type { TextByLanguage } from '../texts/catalogues.ts'
import { negotiateLanguage } from '../texts/engine-texts.ts'
import type { Translator } from '../texts/translation.ts'

/** The application that pages belong to. */
export interface Application {
  name: string
  /** The providers for the sign-in, beside the code. */
  providers?: readonly Provider[]
}

interface Provider {
  id: string
  name: string
}

/** Translates the texts of pages to one language. */
export interface PageTranslator extends Translator {
  appName: string
  providers: readonly Provider[]
  /** Translates the names of resources as a list. */
  translateResources: (names: readonly TextByLanguage[]) => string
}

/** British English has no comma before “and”, as the texts of the catalogue. */
const LIST_LOCALES: Partial<Record<Language, string>> = { en: 'en-GB' }

/** Creates the translator of the best supported language for an `Accept-Language` header. */
export function createPageTranslator(
  { name: appName, providers = [] }: Application,
  acceptLanguage?: string,
): PageTranslator {
  const translator = negotiateLanguage(acceptLanguage)
  const { language } = translator
  return {
    ...translator,
    appName,
    providers,
    translateResources: (names) =>
      new Intl.ListFormat(LIST_LOCALES[language] ?? language).format(
        names.map((texts) => texts[language] ?? texts.en),
      ),
  }
}
