import { DEFAULT_MAX_BIGINT_DIGITS, parseBigIntString } from '@orpc/shared'
import { z } from 'zod'

import { classOf, definitionOf, partsOf, type Schema } from './schema.ts'

export type Decode = (value: unknown) => unknown

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/
const TIME = z.regexes.datetime({ offset: true })

/** Returns a decoder that converts texts only. `convert` returns undefined for a text that does not fit: it remains a text. */
const ofText =
  (convert: (text: string) => unknown): Decode =>
  (value) =>
    typeof value === 'string' ? (convert(value) ?? value) : value

const toDate = ofText((text) => (TIME.test(text) ? new Date(text) : undefined))
const toBigInt = ofText((text) => parseBigIntString(text, DEFAULT_MAX_BIGINT_DIGITS))
const toUrl = ofText((text) => (URL.canParse(text) ? new URL(text) : undefined))

/** The types that JSON lacks. */
const native: Readonly<Record<string, Decode>> = { date: toDate, bigint: toBigInt }
/** The types that a text in a path or query lacks. */
const inText: Readonly<Record<string, Decode>> = {
  number: ofText((text) => (NUMBER.test(text) ? Number(text) : undefined)),
  int: ofText((text) => (NUMBER.test(text) ? Number(text) : undefined)),
  boolean: ofText((text) => ({ true: true, false: false })[text]),
}
const classes = new Map<unknown, Decode>([
  [URL, toUrl],
  [Date, toDate],
])

/** Returns the decoder of a type without parts. */
export function leafDecoder(schema: Schema, isText: boolean): Decode | undefined {
  const def = definitionOf(schema)
  if (def.type === 'custom') return classes.get(classOf(schema))
  if (def.type === 'literal') return literalDecoder(def.values, isText)
  if (def.type === 'enum') return literalDecoder(Object.values(def.entries), isText)
  return native[def.type] ?? (isText ? inText[def.type] : undefined)
}

/** A literal that is a text itself precedes a literal with the same text, for example `'7'` and 7. */
function literalDecoder(values: readonly unknown[], isText: boolean): Decode | undefined {
  const converted = values.filter((value) =>
    isText ? ['number', 'boolean', 'bigint'].includes(typeof value) : typeof value === 'bigint',
  )
  if (converted.length === 0) return undefined
  const byText = new Map(converted.map((value) => [String(value), value]))
  for (const value of values) if (typeof value === 'string') byText.set(value, value)
  return ofText((text) => byText.get(text))
}

/**
 * Returns whether the texts of an item contain no comma, so that a query can separate the items by commas. Otherwise, a query
 * repeats the parameter.
 */
export function hasNoComma(item: Schema): boolean {
  const def = definitionOf(item)
  if (def.type === 'enum') return Object.values(def.entries).every(isPlain)
  if (def.type === 'literal') return def.values.every(isPlain)
  if (['number', 'int', 'boolean', 'bigint', 'date'].includes(def.type)) return true
  // Of a union, for example. The parts of an object have names.
  const alternatives = partsOf(item, 'input').filter(({ name }) => name === undefined)
  return alternatives.length > 0 && alternatives.every(({ schema }) => hasNoComma(schema))
}

const isPlain = (value: unknown) => !String(value).includes(',')
