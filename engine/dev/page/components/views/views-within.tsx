import { useLocation } from 'wouter'

import type { View } from '../../definition.ts'
import { LanguageContext, useAppLanguage } from '../../language.tsx'
import { useViewsWithin } from './view-at.ts'

interface Props {
  view: View
  /** The values of the parameters in the path of the view. */
  parameters?: object
}

/** The content of a view with its title, as a part of another view. */
export function ViewSection({ view, parameters }: Props) {
  const { languageOf } = useAppLanguage()
  const language = languageOf(view.texts)
  return (
    // Without a name, because the list in the view is a region with the same name.
    <section>
      <h2>{language.t(view.title)}</h2>
      <LanguageContext value={language}>
        <view.Content {...parameters} />
      </LanguageContext>
    </section>
  )
}

/**
 * The views within the item at the address, each with its title: at `/gardens/7`, the view with the path
 * `/gardens/{gardenId}/plants`.
 *
 * @example
 * <ViewsWithin />
 */
export function ViewsWithin() {
  const [location] = useLocation()
  return useViewsWithin(location).map(({ view, parameters }) => (
    <ViewSection key={view.path} view={view} parameters={parameters} />
  ))
}
