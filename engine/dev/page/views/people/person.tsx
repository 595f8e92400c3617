import type { User } from '../../auth.ts'
import { usePerson } from '../../components/session/session.tsx'
import { useLanguage } from '../../language.tsx'
import type { OpenAction } from './action.tsx'
import { PersonMenu } from './menu.tsx'

interface Props {
  user: User
  onAction: (action: OpenAction) => void
  onShowTrail: (user: User) => void
}

export function PersonRow({ user, ...handlers }: Props) {
  const { t, formatTime } = useLanguage()
  const isSelf = usePerson().id === user.id
  const toTime = (iso: string) => formatTime(Date.parse(iso) / 1000)
  return (
    <tr>
      <th scope="row">
        <p>
          <strong>
            <bdi>{user.name || user.email}</bdi>
          </strong>{' '}
          {isSelf && <mark>{t('you')}</mark>} {user.banned && <mark className="alarm">{t('banned')}</mark>}
        </p>
        {user.name && (
          <p className="muted">
            <bdi>{user.email}</bdi>
          </p>
        )}
        {user.banned && (
          <p>
            {user.banReason && <bdi>{user.banReason}</bdi>}{' '}
            {user.banExpires && t('expires', { time: toTime(user.banExpires) })}
          </p>
        )}
      </th>
      <td>{t(user.role === 'admin' ? 'administrator' : 'user')}</td>
      <td data-title={t('memberSince')}>{toTime(user.createdAt)}</td>
      <td>
        <PersonMenu user={user} {...handlers} />
      </td>
    </tr>
  )
}
