import { useId } from 'react'

import { hasParameters, useDefinition } from '../definition.ts'
import { LanguageContext, useAppLanguage } from '../language.tsx'
import { accountViews } from '../views.ts'
import { isOpen, useSession } from './session/session.tsx'

const ofAccount = new Set<string>(accountViews.map(({ path }) => path))

/**
 * The content of the application's first view that the person can open, with its title: for the start page of a new project.
 * Shows nothing without such a view.
 *
 * @example
 * {session && <FirstView />}
 */
export function FirstView() {
  const { languageOf } = useAppLanguage()
  const { views } = useDefinition()
  const session = useSession()
  const titleId = useId()
  const view = views.find(
    (each) =>
      each.path !== '/' && !ofAccount.has(each.path) && !hasParameters(each.path) && isOpen(each, session),
  )
  if (!view) return null
  const language = languageOf(view.texts)
  return (
    <section aria-labelledby={titleId}>
      <h2 id={titleId}>{language.t(view.title)}</h2>
      <LanguageContext value={language}>
        <view.Content />
      </LanguageContext>
    </section>
  )
}
