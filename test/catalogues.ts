import { IntlMessageFormat } from 'intl-messageformat'
import { expect, test } from 'vitest'

import type { Language } from '../contract/languages.ts'

/** A node of a parsed message: a text, an argument or a plural. The forms of a plural are nodes again. */
interface Node {
  type: number
  value: string
  options?: Record<string, { value: Node[] }>
}

/** The types of nodes, as in @formatjs/icu-messageformat-parser. */
const LITERAL = 0
const NUMBER = 2
const PLURAL = 6
/** The number sign in a form of a plural. */
const POUND = 7

const isNode = (node: unknown): node is Node => typeof node === 'object' && node !== null

const inner = (nodes: Node[]): Node[] =>
  nodes.flatMap((node) => [node, ...Object.values(node.options ?? {}).flatMap(({ value }) => inner(value))])

function nodesOf(text: string, language: Language) {
  const nodes: unknown[] = new IntlMessageFormat(text, language).getAst()
  return inner(nodes.filter(isNode))
}

function argumentsOf(text: string, language: Language) {
  const nodes = nodesOf(text, language).filter(({ type }) => type !== LITERAL && type !== POUND)
  return [...new Set(nodes.map(({ value }) => value))].sort()
}

type Values = Record<string, string | number>

interface Subject<Key extends string> {
  language: Language
  catalogue: Record<Key, string>
  english: Record<Key, string>
  translate: (message: Key, values: Values) => string
  /** The English texts that are also words of other languages. */
  sharedTexts?: readonly string[]
}

/** Defines the tests of a catalogue of messages in ICU MessageFormat. */
export function testCatalogue<Key extends string>({
  language,
  catalogue,
  english,
  translate,
  sharedTexts = [],
}: Subject<Key>) {
  const messages = Object.keys(english).filter((key): key is Key => key in english)

  test('has the messages of the English catalogue, in the same order', () => {
    expect(Object.keys(catalogue)).toEqual(messages)
  })

  test('has the arguments of the English catalogue in every message', () => {
    const different = messages.filter(
      (message) =>
        argumentsOf(catalogue[message], language).join() !== argumentsOf(english[message], 'en').join(),
    )

    expect(different).toEqual([])
  })

  test('formats every message with every value', () => {
    const digits = new Intl.NumberFormat(language)
    for (const message of messages) {
      const nodes = nodesOf(catalogue[message], language)
      const numbers = nodes.filter(({ type }) => type === NUMBER || type === PLURAL).map(({ value }) => value)
      const names = argumentsOf(catalogue[message], language)
      const values = Object.fromEntries(names.map((name) => [name, numbers.includes(name) ? 7 : `<${name}>`]))

      const text = translate(message, values)

      for (const value of Object.values(values))
        expect(text, message).toContain(typeof value === 'number' ? digits.format(value) : value)
      expect(text.trim(), message).toBe(text)
      expect(text, message).not.toMatch(/[{}#]|undefined/)
    }
  })

  test('has a form for every plural category of the language', () => {
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions()
    const incomplete = messages.filter((message) =>
      nodesOf(catalogue[message], language).some(
        ({ type, options = {} }) =>
          type === PLURAL && !pluralCategories.every((category) => category in options),
      ),
    )

    expect(incomplete).toEqual([])
  })

  test('has no markup, and no bidirectional control character', () => {
    // ZERO WIDTH NON-JOINER is a letter of Persian orthography.
    for (const message of messages)
      expect(catalogue[message], message).not.toMatch(/[<>&\u200B\u200D-\u200F\u202A-\u202E\u2066-\u2069]/)
  })

  test.skipIf(language === 'en')('has no English text', () => {
    const untranslated = messages.filter(
      (message) => catalogue[message] === english[message] && !sharedTexts.includes(english[message]),
    )

    expect(untranslated).toEqual([])
  })
}
