import { IntlMessageFormat, type MessageFormatPart } from 'intl-messageformat'
import { LRUCache } from 'lru-cache'
import type { Language } from 'tallystick-contract'

import { type Catalogues, findText } from './catalogues.ts'

/** The values of the arguments of a message, by name. */
export type Values = Record<string, string | number | undefined>

/** Marks the position at which a text value is inserted into a formatted message. */
interface Placeholder {
  name: string
}

/** Maximum number of formatted messages in the cache of a formatter. */
const MAX_FORMATTED = 2000

/** Creates the function that formats the messages of catalogues. Each formatter has its own caches. */
export function createFormatter(catalogues: Catalogues) {
  const formatted = new LRUCache<string, MessageFormatPart<Placeholder>[]>({ max: MAX_FORMATTED })
  const parsed = new Map<string, IntlMessageFormat>()

  /** Returns the parsed message. Parses each message only once for each language, at the first use of the message. */
  function findParsed(language: Language, message: string) {
    const key = `${language} ${message}`
    const format = parsed.get(key) ?? parse(catalogues, language, message)
    parsed.set(key, format)
    return format
  }

  /**
   * Formats a message with its numeric values, and with placeholders instead of text values. Formatting takes 15 µs, so
   * results are cached. The cache key contains the numbers but not the texts, because there are many different texts.
   */
  return (language: Language, message: string, values: Values) => {
    let key = `${language} ${message}`
    const formatValues: Record<string, Placeholder | Values[string]> = {}
    for (const [name, value] of Object.entries(values)) {
      formatValues[name] = typeof value === 'string' ? { name } : value
      if (typeof value !== 'string') key += ` ${name} ${value}`
    }
    const parts = formatted.get(key) ?? findParsed(language, message).formatToParts(formatValues)
    formatted.set(key, parts)
    return parts
  }
}

/** The plural forms and digits of a message are those of the language of its text. */
function parse(catalogues: Catalogues, language: Language, message: string) {
  const found = findText(catalogues, language, message)
  if (!found)
    throw new Error(`Unknown message ${message}: add it to the English texts, and to the other languages`)
  return new IntlMessageFormat(found.text, found.language)
}
