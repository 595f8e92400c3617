import { matchRoute, useRouter } from 'wouter'

import { hasParameters, useDefinition, type View } from '../../definition.ts'
import { isOpen, useSession } from '../session/session.tsx'

/** A view at an address, with the values of the parameters in its path. */
interface ViewAt {
  view: View
  href: string
  parameters: object
}

/** Returns a function that finds the view at an address. A path without parameters has priority. */
export function useFindView() {
  const { views } = useDefinition()
  const { parser } = useRouter()
  const match = (view: View, href: string): ViewAt[] => {
    const [isFound, parameters] = matchRoute(parser, view.path.replaceAll(/\{(\w+)\}/g, ':$1'), href)
    return isFound ? [{ view, href, parameters: { ...parameters } }] : []
  }
  return (href: string): ViewAt | undefined => {
    const exact = views.find(({ path }) => path === href)
    return exact ? { view: exact, href, parameters: {} } : views.flatMap((view) => match(view, href))[0]
  }
}

/**
 * Returns the views that the person can open within an item: for `/gardens/7`, the view with the path
 * `/gardens/{gardenId}/plants`.
 */
export function useViewsWithin(href: string): ViewAt[] {
  const { views } = useDefinition()
  const session = useSession()
  const find = useFindView()
  return views
    .filter((view) => hasParameters(view.path) && isOpen(view, session))
    .flatMap((view) => {
      // A path that ends with a parameter is of one item, and not of a list within an item.
      const last = view.path.split('/').at(-1) ?? ''
      const found = last.startsWith('{') ? undefined : find(`${href}/${last}`)
      return found?.view === view ? [found] : []
    })
}
