import { IntlMessageFormat } from 'intl-messageformat'

import type { Language } from '../../contract/languages.ts'
import type { Catalogue, Message } from './en.ts'

export type { Message }

const catalogues = import.meta.glob<{ catalogue: Catalogue }>(['./*.ts', '!./index.ts'])

/** Loads the texts of a language. */
export async function loadCatalogue(language: Language): Promise<Catalogue> {
  const load = catalogues[`./${language}.ts`]
  if (!load) throw new Error(`app/messages/ has no texts for ${language}`)
  return (await load()).catalogue
}

export type Values = Record<string, string | number>

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Creates the texts and formats of a language. */
export function createTranslator(language: Language, catalogue: Catalogue) {
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
