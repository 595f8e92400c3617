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

/** The languages of the responses. */
export const languages = Object.keys(catalogues)

type Values = Record<string, string | number | undefined>

/** Maximum number of language tags that are read from one header. */
const MAX_TAGS = 50

/** Size of the cache from `Accept-Language` headers to languages, in characters. */
const MAX_CACHED_HEADERS = 1_000_000

const negotiated = new LRUCache<string, string>({
  maxSize: MAX_CACHED_HEADERS,
  sizeCalculation: (language, header) => header.length + language.length,
})

/**
 * Returns the best supported language for an `Accept-Language` header, and the translations. Results are cached, because
 * browsers send few different headers, and parsing a header takes 30 µs.
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

/** Selects by the quality values of RFC 9110 and the language tags of BCP 47. Falls back to English. */
function selectLanguage(acceptLanguage: string) {
  const wanted = new Negotiator({ headers: { 'accept-language': acceptLanguage } })
    .languages()
    .slice(0, MAX_TAGS)
  const known = wanted.find((tag) => supported.has(languageAndScript(tag)))
  return supported.get(known === undefined ? 'en-Latn' : languageAndScript(known)) ?? 'en'
}

/**
 * The language and script of a tag, with likely subtags added: `zh-TW` becomes `zh-Hant`, `iw` becomes `he-Hebr`. Empty for
 * an invalid tag. Regions are ignored, so that `pt-PT` matches `pt-BR`.
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

/** Marks the position of a text value in a formatted message. */
interface Placeholder {
  name: string
}

/** Number of messages that the cache of formatted messages holds. */
const MAX_CACHED_MESSAGES = 1000

const messageCache = new LRUCache<string, MessageFormatPart<Placeholder>[]>({ max: MAX_CACHED_MESSAGES })

/**
 * Formats a message with its numbers, and with placeholders in place of its texts. Results are cached by the numbers: there
 * are few different numbers, but many different texts, and formatting takes 15 µs.
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

/** The parsed format of a message. Parses each message once, on first use. */
function format(language: string, message: string) {
  if (!isMessage(message))
    throw new Error(`Unknown message ${message}: add it to every catalogue in src/messages/`)
  const key = `${language} ${message}`
  const format = formats.get(key) ?? new IntlMessageFormat((catalogues[language] ?? en)[message], language)
  formats.set(key, format)
  return format
}
