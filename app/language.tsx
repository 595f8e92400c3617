import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from 'react'
import { isRightToLeft, type Language, languages, matchLanguage } from 'tallystick-contract'

import { createTranslator, loadCatalogue, type Translator } from './translator.ts'

const STORED = 'language'

const FALLBACK: Language = 'en'

/** The chosen language, or the best match of the browser's languages. */
const initialLanguage = () => {
  const stored = localStorage.getItem(STORED)
  return matchLanguage(stored ? [stored, ...navigator.languages] : navigator.languages)
}

const LanguageContext = createContext<(Translator & { choose: (language: Language) => void }) | undefined>(
  undefined,
)

/**
 * Loads the catalogue of the language. Shows nothing until the first catalogue is loaded. If the catalogue cannot be
 * loaded, keeps the current one, otherwise loads the English one, otherwise shows a message.
 */
export function LanguageProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState(initialLanguage)
  const [translator, setTranslator] = useState<Translator>()
  const [hasFailed, setHasFailed] = useState(false)
  const isShown = useRef(false)

  useEffect(() => {
    let isCurrent = true
    const show = async (shown: Language) => {
      const catalogue = await loadCatalogue(shown)
      if (!isCurrent) return
      document.documentElement.lang = shown
      document.documentElement.dir = isRightToLeft(shown) ? 'rtl' : 'ltr'
      setTranslator(createTranslator(shown, catalogue))
      isShown.current = true
    }
    show(language)
      .catch(() => (isShown.current ? undefined : show(FALLBACK)))
      .catch(() => {
        setHasFailed(true)
      })
    return () => {
      isCurrent = false
    }
  }, [language])

  const choose = (next: Language) => {
    localStorage.setItem(STORED, next)
    setLanguage(next)
  }
  if (!translator) return hasFailed ? <NoLanguage /> : null
  return <LanguageContext value={{ ...translator, choose }}>{children}</LanguageContext>
}

/** In English, because no catalogue is loaded. */
function NoLanguage() {
  return (
    <main role="alert" lang="en">
      <p>The page could not be loaded completely.</p>
      <button
        onClick={() => {
          location.reload()
        }}
      >
        Reload page
      </button>
    </main>
  )
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
