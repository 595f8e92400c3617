import { IntlMessageFormat } from 'intl-messageformat'
import type { Language } from 'tallystick-contract'

import type { Message } from './texts.ts'

export interface Catalogue {
  /** The language of the texts, which decides about the forms of the plural. */
  language: Language
  texts: Readonly<Partial<Record<string, string>>>
}

type Values = Record<string, string | number>

/** The texts and formats of a language. `Messages` are the names of the texts. */
export interface Translator<Messages extends string = Message> {
  language: Language
  /** Returns a text, with the values inserted. */
  t: (message: Messages, values?: Values) => string
  /** Returns the text about the error with a code. Undefined if there is no such text. */
  findErrorText: (code: string) => string | undefined
  formatNumber: (value: number) => string
  /** Formats a number of days, with the unit. */
  formatDays: (count: number) => string
  /** Formats a time in Unix seconds. */
  formatTime: (seconds: number) => string
  /** Formats a past time in Unix seconds, relative to the current time. */
  formatAge: (seconds: number) => string
}

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/**
 * Creates the texts and formats of a language. The first catalogue with a message decides. `locale` is the language with a region,
 * which decides how dates are written: `en-GB`.
 */
export function createTranslator(
  language: Language,
  catalogues: readonly Catalogue[],
  locale: string = language,
): Translator<string> {
  const formats = new Map<string, IntlMessageFormat>()
  // Without grouping, so that a number can be copied.
  const number = new Intl.NumberFormat(language, { useGrouping: false })
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
  const days = new Intl.NumberFormat(language, { style: 'unit', unit: 'day', unitDisplay: 'long' })
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })

  const findFormat = (message: string) => {
    const known = formats.get(message)
    if (known) return known
    const catalogue = catalogues.find(({ texts }) => Object.hasOwn(texts, message))
    if (!catalogue) return undefined
    const format = new IntlMessageFormat(catalogue.texts[message] ?? '', catalogue.language)
    formats.set(message, format)
    return format
  }
  const find = (message: string, values?: Values) => {
    const format = findFormat(message)
    return format && String(format.format(values))
  }
  return {
    language,
    t: (message, values) => find(message, values) ?? message,
    findErrorText: find,
    formatNumber: (value) => number.format(value),
    formatDays: (count) => days.format(count),
    formatTime: (seconds) => date.format(seconds * 1000),
    formatAge: (seconds) => {
      const age = Math.max(0, Date.now() / 1000 - seconds)
      if (age < HOUR) return relative.format(-Math.floor(age / MINUTE), 'minute')
      if (age < DAY) return relative.format(-Math.floor(age / HOUR), 'hour')
      return relative.format(-Math.floor(age / DAY), 'day')
    },
  }
}
