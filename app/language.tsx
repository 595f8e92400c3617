import { createContext, type ReactNode, useContext, useEffect, useState } from 'react'

import { isRightToLeft, type Language, languages, matchLanguage } from '../contract/languages.ts'
import { createTranslator, loadCatalogue, type Translator } from './messages/index.ts'

const STORED = 'language'

/** The chosen language, or the best match of the browser's languages. */
const initialLanguage = () => {
  const stored = localStorage.getItem(STORED)
  return matchLanguage(stored ? [stored, ...navigator.languages] : navigator.languages)
}

const LanguageContext = createContext<(Translator & { choose: (language: Language) => void }) | undefined>(
  undefined,
)

/** Loads the catalogue of the language. Shows nothing until the first catalogue is loaded. */
export function LanguageProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState(initialLanguage)
  const [translator, setTranslator] = useState<Translator>()

  useEffect(() => {
    let isCurrent = true
    void loadCatalogue(language).then((catalogue) => {
      if (!isCurrent) return
      document.documentElement.lang = language
      document.documentElement.dir = isRightToLeft(language) ? 'rtl' : 'ltr'
      setTranslator(createTranslator(language, catalogue))
    })
    return () => {
      isCurrent = false
    }
  }, [language])

  const choose = (next: Language) => {
    localStorage.setItem(STORED, next)
    setLanguage(next)
  }
  return translator && <LanguageContext value={{ ...translator, choose }}>{children}</LanguageContext>
}

/** Returns the texts and formats of the current language. */
export function useLanguage() {
  const context = useContext(LanguageContext)
  if (!context) throw new Error('useLanguage requires a LanguageProvider')
  return context
}

/** Returns the name of each language in this language, for a list. */
export const languageNames = languages.map((language) => ({
  language,
  name: new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language,
}))
