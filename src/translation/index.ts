import { LRUCache } from 'lru-cache'
import Negotiator from 'negotiator'

import { isRightToLeft, type Language, languages, matchLanguage } from '../../contract/languages.ts'
import { isMessage, type Message, resourceName } from './catalogues.ts'
import { formatParts, type Values } from './format.ts'

export { isMessage, type Language, languages, type Message, type Values }

/** Converts the two kinds of text of a formatted message: the text of the catalogue, and inserted text values. */
export interface Writer {
  text: (text: string) => string
  value: (value: string) => string
}

const plainWriter: Writer = { text: (text) => text, value: (value) => value }

/** British English has no comma before “and”, as the texts of the catalogue. */
const LIST_LOCALES: Partial<Record<Language, string>> = { en: 'en-GB' }

function createTranslator(language: Language) {
  const listFormat = new Intl.ListFormat(LIST_LOCALES[language] ?? language)
  return {
    language,
    direction: isRightToLeft(language) ? 'rtl' : 'ltr',
    translate: (message: string, values: Values = {}, { text, value }: Writer = plainWriter) =>
      formatParts(language, message, values)
        .map((part) =>
          typeof part.value === 'string' ? text(part.value) : value(String(values[part.value.name])),
        )
        .join(''),
    /** Translates the names of resources as a list. */
    translateResources: (names: readonly string[]) =>
      listFormat.format(names.map((name) => resourceName(language, name))),
  } as const
}

export type Translator = ReturnType<typeof createTranslator>

const translators = new Map(languages.map((language) => [language, createTranslator(language)]))

/** Maximum number of language tags that are read from one header. */
const MAX_TAGS = 50

/** Maximum total size, in characters, of the cache that maps `Accept-Language` headers to translators. */
const MAX_CACHED_HEADERS = 1_000_000

const negotiated = new LRUCache<string, Translator>({
  maxSize: MAX_CACHED_HEADERS,
  sizeCalculation: ({ language }, header) => header.length + language.length,
})

/**
 * Returns the translator of the best supported language for an `Accept-Language` header. The translator is cached for
 * each header, because browsers send few different headers, and parsing a header takes 30 µs.
 */
export function negotiateLanguage(acceptLanguage = '') {
  const translator = negotiated.get(acceptLanguage) ?? selectTranslator(acceptLanguage)
  negotiated.set(acceptLanguage, translator)
  return translator
}

/**
 * Selects a language by the quality values (RFC 9110) and the language tags (BCP 47) of the header. The fallback is
 * English.
 */
function selectTranslator(acceptLanguage: string) {
  const tags = new Negotiator({ headers: { 'accept-language': acceptLanguage } })
    .languages()
    .slice(0, MAX_TAGS)
  return translatorOf(matchLanguage(tags))
}

const translatorOf = (language: Language) => translators.get(language) ?? createTranslator(language)
