import { hasParameters, useDefinition } from '../../definition.ts'
import { accountViews } from '../../views.ts'
import { isOpen, useSession } from '../session/session.tsx'
import { ViewSection } from './views-within.tsx'

const ofAccount = new Set<string>(accountViews.map(({ path }) => path))

/**
 * The content of the application's first view that the person can open, with its title: for the start page of a new project.
 * Shows nothing without such a view.
 *
 * @example
 * {session && <FirstView />}
 */
export function FirstView() {
  const { views } = useDefinition()
  const session = useSession()
  const view = views.find(
    (each) =>
      each.path !== '/' && !ofAccount.has(each.path) && !hasParameters(each.path) && isOpen(each, session),
  )
  return view && <ViewSection view={view} />
}
