import { createContext, useContext, useLayoutEffect } from 'react'

/** Replaces the title of the view. */
export const TitleContext = createContext<(title: string | undefined) => void>(() => undefined)

/**
 * Replaces the title of a view with the title of the item that the view shows, in the heading and in the title of the window.
 *
 * @example
 * useTitle(garden.title)
 */
export function useTitle(title: string | undefined) {
  const setTitle = useContext(TitleContext)
  useLayoutEffect(() => {
    setTitle(title)
    return () => {
      setTitle(undefined)
    }
  }, [title, setTitle])
}
