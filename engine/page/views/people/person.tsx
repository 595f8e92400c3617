import { useId } from 'react'

import type { User } from '../../auth.ts'
import { usePerson } from '../../components/session.tsx'
import { useLanguage } from '../../language.tsx'
import { type Action, actions, type OpenAction } from './action.tsx'

interface Props {
  user: User
  onAction: (action: OpenAction) => void
  onShowTrail: (user: User) => void
}

export function PersonItem({ user, onAction, onShowTrail }: Props) {
  const { t, formatTime } = useLanguage()
  const titleId = useId()
  const isSelf = usePerson().id === user.id
  const isAdmin = user.role === 'admin'
  const toTime = (iso: string) => formatTime(Date.parse(iso) / 1000)

  const button = (action: Action) => (
    <button
      className={actions[action].isHarmless ? 'secondary' : 'danger'}
      aria-describedby={titleId}
      onClick={() => {
        onAction({ action, user })
      }}
    >
      {t(action)}
    </button>
  )
  return (
    <li className="entry">
      <div className="grow">
        <p id={titleId}>
          <strong>
            <bdi>{user.name || user.email}</bdi>
          </strong>{' '}
          {isSelf && <mark>{t('you')}</mark>} {isAdmin && <mark>{t('administrator')}</mark>}{' '}
          {user.banned && <mark className="alarm">{t('banned')}</mark>}
        </p>
        <p className="muted">
          <bdi>{user.email}</bdi>
          {' · '}
          {t('memberSince', { time: toTime(user.createdAt) })}
        </p>
        {user.banned && (
          <p>
            {user.banReason && <bdi>{user.banReason}</bdi>}{' '}
            {user.banExpires && t('expires', { time: toTime(user.banExpires) })}
          </p>
        )}
      </div>
      <div className="row">
        {!isAdmin && !user.banned && button('impersonate')}
        {button(isAdmin ? 'demote' : 'promote')}
        {!isSelf && button(user.banned ? 'unban' : 'ban')}
        <button
          className="secondary"
          aria-describedby={titleId}
          onClick={() => {
            onShowTrail(user)
          }}
        >
          {t('showTrail')}
        </button>
      </div>
    </li>
  )
}
