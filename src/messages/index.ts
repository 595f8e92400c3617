import { IntlMessageFormat, type MessageFormatPart } from 'intl-messageformat'
import { LRUCache } from 'lru-cache'
import Negotiator from 'negotiator'

import { am } from './am.ts'
import { ar } from './ar.ts'
import { de } from './de.ts'
import { type Catalogue, en, type Message } from './en.ts'
import { es } from './es.ts'
import { fa } from './fa.ts'
import { fr } from './fr.ts'
import { he } from './he.ts'
import { hi } from './hi.ts'
import { it } from './it.ts'
import { ja } from './ja.ts'
import { ko } from './ko.ts'
import { pl } from './pl.ts'
import { ptBR } from './pt-BR.ts'
import { ru } from './ru.ts'
import { th } from './th.ts'
import { tr } from './tr.ts'
import { uk } from './uk.ts'
import { zhHans } from './zh-Hans.ts'
import { zhHant } from './zh-Hant.ts'

const catalogues: Record<string, Catalogue> = {
  am,
  ar,
  de,
  en,
  es,
  fa,
  fr,
  he,
  hi,
  it,
  ja,
  ko,
  pl,
  'pt-BR': ptBR,
  ru,
  th,
  tr,
  uk,
  'zh-Hans': zhHans,
  'zh-Hant': zhHant,
}

/** The languages of the messages in responses. */
export const languages = Object.keys(catalogues)

type Values = Record<string, string | number | undefined>

/** Maximum number of language tags that are read from one header. */
const MAX_TAGS = 50

/** Maximum total size, in characters, of the cache that maps `Accept-Language` headers to languages. */
const MAX_CACHED_HEADERS = 1_000_000

const negotiated = new LRUCache<string, string>({
  maxSize: MAX_CACHED_HEADERS,
  sizeCalculation: (language, header) => header.length + language.length,
})

/**
 * Returns the best supported language for an `Accept-Language` header, and a function that translates messages. The
 * language is cached for each header, because browsers send few different headers, and parsing a header takes 30 µs.
 */
export function negotiateLanguage(acceptLanguage = '') {
  const language = negotiated.get(acceptLanguage) ?? selectLanguage(acceptLanguage)
  negotiated.set(acceptLanguage, language)
  return {
    language,
    translate: (message: string, values: Values = {}) =>
      formatParts(language, message, values)
        .map(({ value }) => (typeof value === 'string' ? value : String(values[value.name])))
        .join(''),
  }
}

/**
 * Selects a language by the quality values (RFC 9110) and the language tags (BCP 47) of the header. The fallback is
 * English.
 */
function selectLanguage(acceptLanguage: string) {
  const wanted = new Negotiator({ headers: { 'accept-language': acceptLanguage } })
    .languages()
    .slice(0, MAX_TAGS)
  const known = wanted.find((tag) => supported.has(languageAndScript(tag)))
  return supported.get(known === undefined ? 'en-Latn' : languageAndScript(known)) ?? 'en'
}

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

const supported = new Map(languages.map((language) => [languageAndScript(language), language]))

const isMessage = (key: string): key is Message => key in en

/** Marks the position at which a text value is inserted into a formatted message. */
interface Placeholder {
  name: string
}

/** Maximum number of formatted messages in the cache. */
const MAX_CACHED_MESSAGES = 1000

const messageCache = new LRUCache<string, MessageFormatPart<Placeholder>[]>({ max: MAX_CACHED_MESSAGES })

/**
 * Formats a message with its numeric values, and with placeholders instead of text values. Formatting takes 15 µs, so
 * results are cached. The cache key contains the numbers but not the texts, because there are many different texts.
 */
function formatParts(language: string, message: string, values: Values) {
  let key = `${language} ${message}`
  const formatValues: Record<string, Placeholder | Values[string]> = {}
  for (const [name, value] of Object.entries(values)) {
    formatValues[name] = typeof value === 'string' ? { name } : value
    if (typeof value !== 'string') key += ` ${name} ${value}`
  }
  const parts = messageCache.get(key) ?? format(language, message).formatToParts(formatValues)
  messageCache.set(key, parts)
  return parts
}

const formats = new Map<string, IntlMessageFormat>()

/** Returns the parsed message. Parses each message only once for each language, at the first use of the message. */
function format(language: string, message: string) {
  if (!isMessage(message))
    throw new Error(`Unknown message ${message}: add it to every catalogue in src/messages/`)
  const key = `${language} ${message}`
  const format = formats.get(key) ?? new IntlMessageFormat((catalogues[language] ?? en)[message], language)
  formats.set(key, format)
  return format
}
