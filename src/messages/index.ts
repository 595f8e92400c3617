import { LRUCache } from 'lru-cache'
import Negotiator from 'negotiator'

import { isMessage, type Language, languages, type Message } from './catalogues.ts'
import { formatParts, type Values } from './format.ts'
import { resourceNames } from './resources.ts'

export { isMessage, type Language, languages, type Message, type Values }

/** Converts the two kinds of text of a formatted message: the text of the catalogue, and inserted text values. */
export interface Writer {
  text: (text: string) => string
  value: (value: string) => string
}

const plainWriter: Writer = { text: (text) => text, value: (value) => value }

/** Scripts that are written from right to left. */
const RTL_SCRIPTS = ['Arab', 'Hebr']

/** British English has no comma before “and”, as the texts of the catalogue. */
const LIST_LOCALES: Partial<Record<Language, string>> = { en: 'en-GB' }

function createTranslator(language: Language) {
  const { script = '' } = new Intl.Locale(language).maximize()
  const listFormat = new Intl.ListFormat(LIST_LOCALES[language] ?? language)
  return {
    language,
    direction: RTL_SCRIPTS.includes(script) ? 'rtl' : 'ltr',
    translate: (message: string, values: Values = {}, { text, value }: Writer = plainWriter) =>
      formatParts(language, message, values)
        .map((part) =>
          typeof part.value === 'string' ? text(part.value) : value(String(values[part.value.name])),
        )
        .join(''),
    /** Translates the names of resources as a list. A resource without a translation has its English name. */
    translateResources: (names: string[]) =>
      listFormat.format(names.map((name) => resourceNames[name]?.[language] ?? name)),
  } as const
}

export type Translator = ReturnType<typeof createTranslator>

/**
 * Returns the language and script of a tag, with likely values for missing parts: `zh-TW` becomes `zh-Hant`, `iw`
 * becomes `he-Hebr`. Ignores the region, so that `pt-PT` matches `pt-BR`. Returns an empty string for an invalid tag.
 */
function languageAndScript(tag: string) {
  try {
    const { language, script } = new Intl.Locale(tag).maximize()
    return `${language}-${script}`
  } catch {
    return ''
  }
}

const english = createTranslator('en')
const translators = new Map<string, Translator>(
  languages.map((language) => [languageAndScript(language), createTranslator(language)]),
)

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
  const wanted = new Negotiator({ headers: { 'accept-language': acceptLanguage } })
    .languages()
    .slice(0, MAX_TAGS)
  const tags = wanted.map(languageAndScript)
  return translators.get(tags.find((tag) => translators.has(tag)) ?? '') ?? english
}
