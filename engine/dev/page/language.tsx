import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from 'react'
import { isRightToLeft, type Language, matchLanguage } from 'tallystick-contract/internal'

import { loadTexts, type Message } from './texts.ts'
import { type Catalogue, createTranslator, type Translator } from './translator.ts'

const STORED = 'language'

const FALLBACK: Language = 'en'

/** The texts and formats of the current language. */
export interface PageLanguage<Messages extends string = Message> extends Translator<Messages> {
  choose: (language: Language) => void
}

/**
 * The texts of an application, besides the texts of every page. A text with the name of a text of every page replaces that
 * text.
 */
export interface AppTexts<Messages extends string> {
  load: (language: Language) => Promise<Catalogue>
  /** Returns the texts of the application and of every page, and the formats of the current language. */
  useLanguage: () => PageLanguage<Message | Messages>
}

/**
 * Creates the texts of an application. `load` returns the texts of a language, or undefined if the application is not
 * translated to this language. The page then shows the English texts.
 */
export const createTexts = <Messages extends string>(
  load: (language: Language) => Promise<Readonly<Record<Messages, string>>> | undefined,
): AppTexts<Messages> => ({
  load: async (language) => {
    const texts = await load(language)
    return texts ? { language, texts } : { language: FALLBACK, texts: (await load(FALLBACK)) ?? {} }
  },
  useLanguage: useAppLanguage,
})

/** The chosen language, or the best match of the browser's languages. */
const initialLanguage = () => {
  const stored = localStorage.getItem(STORED)
  return matchLanguage(stored ? [stored, ...navigator.languages] : navigator.languages)
}

const LanguageContext = createContext<PageLanguage<string> | undefined>(undefined)

/**
 * Loads the texts of the language. Shows `fallback` until the first texts are loaded. If the texts cannot be loaded, keeps
 * the current ones, otherwise loads the English ones, otherwise shows a message.
 */
export function LanguageProvider({
  load,
  fallback,
  children,
}: {
  load: AppTexts<never>['load']
  fallback: ReactNode
  children: ReactNode
}) {
  const [language, setLanguage] = useState(initialLanguage)
  const [translator, setTranslator] = useState<Translator<string>>()
  const [hasFailed, setHasFailed] = useState(false)
  const isShown = useRef(false)

  useEffect(() => {
    let isCurrent = true
    const show = async (shown: Language) => {
      const [own, texts] = await Promise.all([load(shown), loadTexts(shown)])
      if (!isCurrent) return
      document.documentElement.lang = shown
      document.documentElement.dir = isRightToLeft(shown) ? 'rtl' : 'ltr'
      setTranslator(createTranslator(shown, [own, { language: shown, texts }]))
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
  }, [language, load])

  const choose = (next: Language) => {
    localStorage.setItem(STORED, next)
    setLanguage(next)
  }
  if (!translator) return hasFailed ? <NoLanguage /> : fallback
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

/** Returns the texts of the application and of every page, for the titles of views. */
export function useAppLanguage(): PageLanguage<string> {
  const context = useContext(LanguageContext)
  if (!context) throw new Error('useLanguage requires a LanguageProvider')
  return context
}

/** Returns the texts of every page, and the formats of the current language. */
export const useLanguage = (): PageLanguage => useAppLanguage()
