import { useId, useRef } from 'react'

import type { User } from '../../auth.ts'
import { MoreIcon } from '../../components/icons.tsx'
import { usePerson } from '../../components/session/session.tsx'
import { useLanguage } from '../../language.tsx'
import { type Action, actions, type OpenAction } from './action.tsx'

interface Props {
  user: User
  onAction: (action: OpenAction) => void
  onShowTrail: (user: User) => void
}

/** The button at the end of the row of a person, and the menu with the actions. */
export function PersonMenu({ user, onAction, onShowTrail }: Props) {
  const { t } = useLanguage()
  const id = useId()
  const menu = useRef<HTMLUListElement>(null)
  const isSelf = usePerson().id === user.id
  const isAdmin = user.role === 'admin'

  const offers: [Action, boolean][] = [
    ['impersonate', !isAdmin && !user.banned],
    ['promote', !isAdmin],
    ['demote', isAdmin],
    ['ban', !isSelf && !user.banned],
    ['unban', !isSelf && Boolean(user.banned)],
  ]
  const item = (name: Action | 'showTrailOf', className: string, onClick: () => void) => (
    <li key={name}>
      <button
        className={className}
        onClick={() => {
          // Returns the focus to the button of the menu, which receives the focus again after the dialog.
          menu.current?.hidePopover()
          onClick()
        }}
      >
        {t(name)}
      </button>
    </li>
  )
  return (
    <>
      <button className="secondary" popoverTarget={id} aria-label={t('actionsFor', { name: user.email })}>
        <MoreIcon />
      </button>
      <ul id={id} ref={menu} popover="auto">
        {offers.map(
          ([action, isOffered]) =>
            isOffered &&
            item(action, actions[action].isHarmless ? 'secondary' : 'danger', () => {
              onAction({ action, user })
            }),
        )}
        {item('showTrailOf', 'secondary', () => {
          onShowTrail(user)
        })}
      </ul>
    </>
  )
}
