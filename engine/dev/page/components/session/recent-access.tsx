import { useQuery } from '@tanstack/react-query'

import { orpc } from '../../api.ts'
import { useLanguage } from '../../language.tsx'
import { nameOfDevice } from './device-name.ts'
import { Loaded } from '../loaded.tsx'

/** The devices and apps that have used the account most recently. */
export function RecentAccess({ shown }: { shown: number }) {
  const { t, formatAge } = useLanguage()
  const sessions = useQuery(orpc.sessions.list.queryOptions())
  const apps = useQuery(orpc.apps.list.queryOptions())
  return (
    <Loaded query={sessions}>
      {(data) => (
        <ul className="short">
          {data.sessions
            .toSorted((a, b) => b.lastActive - a.lastActive)
            .slice(0, shown)
            .map((session) => (
              <li key={session.id}>
                <bdi>
                  {/* The access of an app is also in the list of sessions, with the same id. */}
                  {apps.data?.apps.find(({ id }) => id === session.id)?.name ??
                    nameOfDevice(session) ??
                    t('unknownDevice')}
                </bdi>{' '}
                <small>{session.isCurrent ? t('thisDevice') : formatAge(session.lastActive)}</small>
              </li>
            ))}
        </ul>
      )}
    </Loaded>
  )
}
