import { IntlMessageFormat } from 'intl-messageformat'
import type { Language } from 'tallystick-contract'

import type { Page } from '../src/messages/en.ts'

export type Message = keyof Page

/** Each language is a chunk of its own, without the texts of the server. */
const catalogues = import.meta.glob<Page>('../src/messages/*.ts', { import: 'page' })

/** Loads the texts of a language. */
export async function loadCatalogue(language: Language): Promise<Page> {
  const load = catalogues[`../src/messages/${language}.ts`]
  if (!load) throw new Error(`src/messages/ has no texts for ${language}`)
  return load()
}

export type Values = Record<string, string | number>

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Creates the texts and formats of a language. */
export function createTranslator(language: Language, catalogue: Page) {
  const formats = new Map<Message, IntlMessageFormat>()
  // Without grouping, so that a number can be copied.
  const number = new Intl.NumberFormat(language, { useGrouping: false })
  const date = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' })
  const days = new Intl.NumberFormat(language, { style: 'unit', unit: 'day', unitDisplay: 'long' })
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })

  return {
    language,
    isMessage: (key: string): key is Message => Object.hasOwn(catalogue, key),
    /** Returns a message, with the values inserted. */
    t: (message: Message, values?: Values): string => {
      const format = formats.get(message) ?? new IntlMessageFormat(catalogue[message], language)
      formats.set(message, format)
      return String(format.format(values))
    },
    formatNumber: (value: number) => number.format(value),
    /** Formats a number of days, with the unit. */
    formatDays: (count: number) => days.format(count),
    /** Formats a time in Unix seconds. */
    formatTime: (seconds: number) => date.format(seconds * 1000),
    /** Formats a past time in Unix seconds, relative to the current time. */
    formatAge: (seconds: number) => {
      const age = Math.max(0, Date.now() / 1000 - seconds)
      if (age < HOUR) return relative.format(-Math.floor(age / MINUTE), 'minute')
      if (age < DAY) return relative.format(-Math.floor(age / HOUR), 'hour')
      return relative.format(-Math.floor(age / DAY), 'day')
    },
  }
}

export type Translator = ReturnType<typeof createTranslator>
