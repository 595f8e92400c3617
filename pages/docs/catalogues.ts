import type { Language } from 'tallystick-contract'

import type { Texts } from './messages/en.ts'

/** Each language is a file of its own, which the page loads on demand. */
const catalogues: Record<Language, () => Promise<{ texts: Texts }>> = {
  am: () => import('./messages/am.ts'),
  ar: () => import('./messages/ar.ts'),
  de: () => import('./messages/de.ts'),
  en: () => import('./messages/en.ts'),
  es: () => import('./messages/es.ts'),
  fa: () => import('./messages/fa.ts'),
  fr: () => import('./messages/fr.ts'),
  he: () => import('./messages/he.ts'),
  hi: () => import('./messages/hi.ts'),
  it: () => import('./messages/it.ts'),
  ja: () => import('./messages/ja.ts'),
  ko: () => import('./messages/ko.ts'),
  pl: () => import('./messages/pl.ts'),
  'pt-BR': () => import('./messages/pt-BR.ts'),
  ru: () => import('./messages/ru.ts'),
  th: () => import('./messages/th.ts'),
  tr: () => import('./messages/tr.ts'),
  uk: () => import('./messages/uk.ts'),
  'zh-Hans': () => import('./messages/zh-Hans.ts'),
  'zh-Hant': () => import('./messages/zh-Hant.ts'),
}

export const loadReferenceTexts = async (language: Language) => (await catalogues[language]()).texts
