/** The languages of texts, pages and e-mails, as BCP 47 tags. */
export const languages = [
  'am',
  'ar',
  'de',
  'en',
  'es',
  'fa',
  'fr',
  'he',
  'hi',
  'it',
  'ja',
  'ko',
  'pl',
  'pt-BR',
  'ru',
  'th',
  'tr',
  'uk',
  'zh-Hans',
  'zh-Hant',
] as const

/** A language of the page, of e-mails and of texts: `const names: Record<Language, string>`. */
export type Language = (typeof languages)[number]

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

const byScript = new Map<string, Language>(
  languages.map((language) => [languageAndScript(language), language]),
)

/** Returns the language of the first tag that matches. The fallback is English. */
export function matchLanguage(tags: readonly string[]): Language {
  const wanted = tags.map(languageAndScript)
  return byScript.get(wanted.find((tag) => byScript.has(tag)) ?? '') ?? 'en'
}

/** Scripts that are written from right to left. */
const RTL_SCRIPTS = ['Arab', 'Hebr']

/** Returns whether a language is written from right to left: `isRightToLeft('ar')` is true. */
export const isRightToLeft = (language: Language) =>
  RTL_SCRIPTS.includes(new Intl.Locale(language).maximize().script ?? '')
