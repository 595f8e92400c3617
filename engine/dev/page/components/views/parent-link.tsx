import { Link, useLocation } from 'wouter'

import { hasParameters } from '../../definition.ts'
import { useAppLanguage } from '../../language.tsx'
import { isOpen, useSession } from '../session/session.tsx'
import { useFindView } from './view-at.ts'

/** A link to the nearest list or view above the address, which the person can open. */
export function ParentLink() {
  const [location] = useLocation()
  const { languageOf } = useAppLanguage()
  const session = useSession()
  const findView = useFindView()
  const parts = location.split('/')
  const parent = parts
    .flatMap((_, length) => findView(parts.slice(0, length).join('/') || '/')?.view ?? [])
    .findLast((view) => !hasParameters(view.path) && isOpen(view, session))
  return parent && <Link href={parent.path}>{languageOf(parent.texts).t(parent.title)}</Link>
}
