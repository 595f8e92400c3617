import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from 'react'
import { isRightToLeft, type Language, matchLanguage } from 'tallystick-contract'

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

type TextsIn<Messages extends string> = Readonly<Record<Messages, string>>

/**
 * Creates the texts of a view, or of an application. `given` are the English texts, or a function that returns the texts of
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

const LanguageContext = createContext<PageLanguage<string> | undefined>(undefined)

/** The languages of the views with texts of their own. */
const ViewsContext = createContext<ReadonlyMap<AnyTexts | undefined, PageLanguage<string>>>(new Map())

/** Creates the texts of the page, and of each view with texts of its own. */
async function loadLanguage(language: Language, own: AnyTexts | undefined, ofViews: readonly AnyTexts[]) {
  const [frame, page, views] = await Promise.all([
    loadTexts(language),
    own?.load(language),
    Promise.all(ofViews.map((texts) => texts.load(language))),
  ])
  const common = [...(page ? [page] : []), { language, texts: frame }]
  return {
    // The frame shows texts of views, for example in the notice about a change that can be undone.
    page: createTranslator(language, [...common, ...views]),
    views: ofViews.map((texts, index) => {
      const catalogue = views[index]
      return [texts, createTranslator(language, catalogue ? [catalogue, ...common] : common)] as const
    }),
  }
}

type Loaded = Awaited<ReturnType<typeof loadLanguage>>

/**
 * Loads the texts of the language. Shows `fallback` until the first texts are loaded. If the texts cannot be loaded, keeps
 * the current ones, otherwise loads the English ones, otherwise shows a message.
 */
export function LanguageProvider({
  own,
  ofViews,
  fallback,
  children,
}: {
  own: AnyTexts | undefined
  ofViews: readonly AnyTexts[]
  fallback: ReactNode
  children: ReactNode
}) {
  const [language, setLanguage] = useState(initialLanguage)
  const [loaded, setLoaded] = useState<Loaded>()
  const [hasFailed, setHasFailed] = useState(false)
  const isShown = useRef(false)

  useEffect(() => {
    let isCurrent = true
    const show = async (shown: Language) => {
      const next = await loadLanguage(shown, own, ofViews)
      if (!isCurrent) return
      document.documentElement.lang = shown
      document.documentElement.dir = isRightToLeft(shown) ? 'rtl' : 'ltr'
      setLoaded(next)
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
  }, [language, own, ofViews])

  const choose = (next: Language) => {
    localStorage.setItem(STORED, next)
    setLanguage(next)
  }
  if (!loaded) return hasFailed ? <NoLanguage /> : fallback
  const languages = loaded.views.map(([texts, translator]) => [texts, { ...translator, choose }] as const)
  return (
    <LanguageContext value={{ ...loaded.page, choose }}>
      <ViewsContext value={new Map(languages)}>{children}</ViewsContext>
    </LanguageContext>
  )
}

/** Returns the function that returns the texts of a view and of the page. */
export function useLanguageOf() {
  const page = useAppLanguage()
  const views = useContext(ViewsContext)
  return (texts: AnyTexts | undefined) => views.get(texts) ?? page
}

/** Shows a view with its texts, also in the components of every page. */
export const TextsOfView = ({ texts, children }: { texts: AnyTexts | undefined; children: ReactNode }) => (
  <LanguageContext value={useLanguageOf()(texts)}>{children}</LanguageContext>
)

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

/** Returns the texts of the view, of the application and of every page. */
export function useAppLanguage(): PageLanguage<string> {
  const context = useContext(LanguageContext)
  if (!context) throw new Error('useLanguage requires a LanguageProvider')
  return context
}

/** Returns the texts of every page, and the formats of the current language. */
export const useLanguage = (): PageLanguage => useAppLanguage()
