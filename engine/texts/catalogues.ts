import { type Language, languages } from 'tallystick-contract/internal'

/** Texts by language tag (BCP 47). A text that a language does not have is English. */
export type Catalogues<Message extends string = string> = Readonly<
  Partial<Record<Language, Readonly<Partial<Record<Message, string>>>>>
>

/** A text by language. A language without a text has the English text. */
export type TextByLanguage = Readonly<Partial<Record<Language, string>> & { en: string }>

/** Returns the text of a message, and the language of the text. Undefined if the message has no English text either. */
export function findText(catalogues: Catalogues, language: Language, message: string) {
  const sources: Language[] = [language, 'en']
  for (const source of sources) {
    const texts = catalogues[source] ?? {}
    const text = Object.hasOwn(texts, message) ? texts[message] : undefined
    if (text !== undefined) return { text, language: source }
  }
  return undefined
}

/** Selects texts of every language. */
export const selectTexts = <All, Selected>(
  texts: Readonly<Record<Language, All>>,
  select: (texts: All) => Selected,
) =>
  Object.fromEntries(languages.map((language) => [language, select(texts[language])])) as Record<
    Language,
    Selected
  >
