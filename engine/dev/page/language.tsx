import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from 'react'
import { isRightToLeft, type Language, matchLanguage } from 'tallystick-contract/internal'

import { requireContext } from './context.ts'
import { loadTexts, type Message } from './texts.ts'
import { type Catalogue, createTranslator, type Translator } from './translator.ts'

const STORED = 'language'

const FALLBACK: Language = 'en'

/** The texts and formats of the current language. */
export interface PageLanguage<Messages extends string = Message> extends Translator<Messages> {
  choose: (language: Language) => void
}

/**
 * The texts of views, besides the texts of every page. A text with the name of a text of every page replaces that text in the
 * view.
 */
export interface AppTexts<Messages extends string> {
  load: (language: Language) => Promise<Catalogue>
  /** Returns the texts of the view and of every page, and the formats of the current language. */
  useLanguage: () => PageLanguage<Message | Messages>
}

type TextsIn<Messages extends string> = Readonly<Record<Messages, string>>

/**
 * Creates the texts of one or more views. `given` are the English texts, or a function that returns the texts of
 * a language, and undefined if there is no translation to the language. The page then shows the English texts.
 *
 * @example
 * const texts = createTexts({ ideas: 'Ideas', noIdeas: 'You have no ideas.' })
 */
export const createTexts = <Messages extends string>(
  given: TextsIn<Messages> | ((language: Language) => Promise<TextsIn<Messages>> | undefined),
): AppTexts<Messages> => ({
  load: async (language) => {
    if (typeof given !== 'function') return { language: FALLBACK, texts: given }
    const texts = await given(language)
    return texts ? { language, texts } : { language: FALLBACK, texts: (await given(FALLBACK)) ?? {} }
  },
  useLanguage: useAppLanguage,
})

type AnyTexts = AppTexts<never>

/** The chosen language, or the best match of the browser's languages. */
const initialLanguage = () => {
  const stored = localStorage.getItem(STORED)
  return matchLanguage(stored ? [stored, ...navigator.languages] : navigator.languages)
}

interface ViewLanguage extends PageLanguage<string> {
  /** Returns the texts of a view and of every page. */
  languageOf: (texts: AnyTexts | undefined) => ViewLanguage
}

/** The texts of the frame, or of a view in its content. */
export const LanguageContext = createContext<ViewLanguage | undefined>(undefined)

/**
 * Loads the texts of every page, and the texts of views. Returns the function that returns the texts of a view. The texts of `ofFrame`, one
 * of `ofViews`, also replace the texts of every page in the frame and in the views of the account.
 */
async function loadLanguage(language: Language, ofViews: readonly AnyTexts[], ofFrame?: AnyTexts) {
  const [texts, ...own] = await Promise.all([
    loadTexts(language),
    ...ofViews.map(({ load }) => load(language)),
  ])
  const common = { language, texts }
  const replacing = own.filter((_, index) => ofViews[index] === ofFrame)
  // With the region of the browser, so that dates look as in the fields for dates.
  const locale = navigator.languages.find((tag) => tag.startsWith(`${language}-`))
  // The frame shows texts of views, for example in the notice about a change that can be undone.
  const frame = createTranslator(language, [...replacing, common, ...own], locale)
  const views = own.map((catalogue) => createTranslator(language, [catalogue, common], locale))
  return (ofView: AnyTexts | undefined) => (ofView && views[ofViews.indexOf(ofView)]) ?? frame
}

/**
 * Loads the texts of the language. Shows `fallback` until the first texts are loaded. If the texts cannot be loaded, keeps
 * the current ones, otherwise loads the English ones, otherwise shows a message.
 */
export function LanguageProvider({
  ofViews,
  ofFrame,
  fallback,
  children,
}: {
  ofViews: readonly AnyTexts[]
  ofFrame: AnyTexts | undefined
  fallback: ReactNode
  children: ReactNode
}) {
  const [language, setLanguage] = useState(initialLanguage)
  const [translatorOf, setTranslatorOf] = useState<Awaited<ReturnType<typeof loadLanguage>>>()
  const [hasFailed, setHasFailed] = useState(false)
  const isShown = useRef(false)

  useEffect(() => {
    let isCurrent = true
    const show = async (shown: Language) => {
      const next = await loadLanguage(shown, ofViews, ofFrame)
      if (!isCurrent) return
      document.documentElement.lang = shown
      document.documentElement.dir = isRightToLeft(shown) ? 'rtl' : 'ltr'
      // React calls a function that it receives: the result of this function is the new state, which is a function too.
      setTranslatorOf(() => next)
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
  }, [language, ofViews, ofFrame])

  const choose = (next: Language) => {
    localStorage.setItem(STORED, next)
    setLanguage(next)
  }
  if (!translatorOf) return hasFailed ? <NoLanguage /> : fallback
  const languageOf = (texts: AnyTexts | undefined): ViewLanguage => ({
    ...translatorOf(texts),
    choose,
    languageOf,
  })
  return <LanguageContext value={languageOf(undefined)}>{children}</LanguageContext>
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

/** Returns the texts of the view and of every page, and the function for other views. */
export const useAppLanguage = (): ViewLanguage => requireContext(useContext(LanguageContext))

/** Returns the texts of every page, and the formats of the current language. */
export const useLanguage = (): PageLanguage => useAppLanguage()
