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

/** The languages that answers are given in. */
export const languages = Object.keys(catalogues)

type Values = Record<string, string | number | undefined>

/** Tags beyond these are not looked at. */
const MAX_TAGS = 50

/** How much of the headers whose language was found is remembered, in characters. */
const KNOWN_HEADERS = 1_000_000

const negotiated = new LRUCache<string, string>({
  maxSize: KNOWN_HEADERS,
  sizeCalculation: (language, header) => header.length + language.length,
})

/** The caller's language among ours, with its messages. Browsers send few headers, and one costs 30 µs to weigh. */
export function negotiateLanguage(acceptLanguage = '') {
  const language = negotiated.get(acceptLanguage) ?? weigh(acceptLanguage)
  negotiated.set(acceptLanguage, language)
  return {
    language,
    say: (message: string, values: Values = {}) =>
      partsOf(language, message, values)
        .map(({ value }) => (typeof value === 'string' ? value : String(values[value.gap])))
        .join(''),
  }
}

/** By RFC 9110 weights and BCP 47 tags, and English where none of theirs is ours. */
function weigh(acceptLanguage: string) {
  const wanted = new Negotiator({ headers: { 'accept-language': acceptLanguage } })
    .languages()
    .slice(0, MAX_TAGS)
  const known = wanted.find((tag) => written.has(scriptOf(tag)))
  return written.get(known === undefined ? 'en-Latn' : scriptOf(known)) ?? 'en'
}

/** A language as it is written: zh-TW is zh-Hant, pt-PT is pt-BR, iw is he. */
function scriptOf(tag: string) {
  try {
    const { language, script } = new Intl.Locale(tag).maximize()
    return `${language}-${script}`
  } catch {
    return ''
  }
}

const written = new Map(languages.map((language) => [scriptOf(language), language]))

const isMessage = (key: string): key is Message => key in en

/** Where a text goes, by its name. */
interface Gap {
  gap: string
}

/** How many messages are remembered as they read for some numbers. */
const KNOWN_MESSAGES = 1000

const worded = new LRUCache<string, MessageFormatPart<Gap>[]>({ max: KNOWN_MESSAGES })

/** A message as it reads for its numbers, with gaps for its texts: numbers are few, and to word them costs 15 µs. */
function partsOf(language: string, message: string, values: Values) {
  let key = `${language} ${message}`
  const given: Record<string, Gap | Values[string]> = {}
  for (const [name, value] of Object.entries(values)) {
    given[name] = typeof value === 'string' ? { gap: name } : value
    if (typeof value !== 'string') key += ` ${name} ${value}`
  }
  const parts = worded.get(key) ?? format(language, message).formatToParts(given)
  worded.set(key, parts)
  return parts
}

const formats = new Map<string, IntlMessageFormat>()

/** Parsed once, when first needed. */
function format(language: string, message: string) {
  if (!isMessage(message)) throw new Error(`No catalogue has the message ${message}`)
  const key = `${language} ${message}`
  const format = formats.get(key) ?? new IntlMessageFormat((catalogues[language] ?? en)[message], language)
  formats.set(key, format)
  return format
}
