import { isRightToLeft, type Language, languages } from 'tallystick-contract/internal'

import type { Catalogues } from './catalogues.ts'
import { createFormatter, type Values } from './format.ts'
import { findLanguage } from './negotiation.ts'

export { type Catalogues, selectTexts } from './catalogues.ts'
export type { Values }

/** Converts the two kinds of text of a formatted message: the text of the catalogue, and inserted text values. */
export interface Writer {
  text: (text: string) => string
  value: (value: string) => string
}

const plainWriter: Writer = { text: (text) => text, value: (value) => value }

/**
 * Creates the translation of messages from catalogues in ICU MessageFormat.
 *
 * @example
 * const { negotiateLanguage } = createTranslation({ en: { seats: '{count, plural, one {# seat} other {# seats}}' } })
 * negotiateLanguage('de, en;q=0.5').translate('seats', { count: 2 }) // 2 seats: German has no text here
 */
export function createTranslation<Message extends string>(catalogues: Catalogues<Message>) {
  const formatParts = createFormatter(catalogues)
  const createTranslator = (language: Language) =>
    ({
      language,
      direction: isRightToLeft(language) ? 'rtl' : 'ltr',
      translate: (message: string, values: Values = {}, { text, value }: Writer = plainWriter) =>
        formatParts(language, message, values)
          // A part is a text of the catalogue with its numbers, or the name of an inserted text, which `value` can escape.
          .map((part) =>
            typeof part.value === 'string' ? text(part.value) : value(String(values[part.value.name])),
          )
          .join(''),
    }) as const
  const translators = new Map(languages.map((language) => [language, createTranslator(language)]))
  return {
    isMessage: (key: string): key is Message => Object.hasOwn(catalogues.en ?? {}, key),
    /** Returns the translator of the best supported language for an `Accept-Language` header. */
    negotiateLanguage: (acceptLanguage = '') => {
      const language = findLanguage(acceptLanguage)
      return translators.get(language) ?? createTranslator(language)
    },
  }
}

/** Translates messages to one language. */
export type Translator = ReturnType<ReturnType<typeof createTranslation>['negotiateLanguage']>
