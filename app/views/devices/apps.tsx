import { useQuery, useQueryClient } from '@tanstack/react-query'

import type { Outputs } from '../../../contract/client.ts'
import { client, orpc } from '../../api.ts'
import { Loaded } from '../../components/loaded.tsx'
import { useLanguage } from '../../language.tsx'
import { useOutcome } from './outcome.tsx'
import { Revocable } from './revocable.tsx'

type App = Outputs['apps']['list']['apps'][number]

export function AppList() {
  const { t } = useLanguage()
  const query = useQuery(orpc.apps.list.queryOptions())
  const queryClient = useQueryClient()
  const { heading, announce, outcome } = useOutcome()

  const onRevoked = async () => {
    // In this order, because a session that is no app is shown as a device.
    await queryClient.invalidateQueries({ queryKey: orpc.sessions.key() })
    await queryClient.invalidateQueries({ queryKey: orpc.apps.key() })
    announce(t('appRevoked'))
  }
  return (
    <section aria-labelledby="apps-title">
      <h2 id="apps-title" ref={heading} tabIndex={-1}>
        {t('apps')}
      </h2>
      <p className="muted">{t('appsExplanation')}</p>
      {outcome}
      <Loaded query={query}>
        {({ apps }) =>
          apps.length > 0 ? (
            <ul aria-labelledby="apps-title">
              {apps.map((app) => (
                <AppItem key={app.id} app={app} onRevoked={onRevoked} />
              ))}
            </ul>
          ) : (
            <p>{t('noApps')}</p>
          )
        }
      </Loaded>
    </section>
  )
}

const scopeTexts = { read: 'scopeRead', write: 'scopeWrite' } as const

function AppItem({ app, onRevoked }: { app: App; onRevoked: () => Promise<void> }) {
  const { t, formatAge, formatTime } = useLanguage()
  return (
    <Revocable
      title={<bdi>{app.name}</bdi>}
      revoke={() => client.apps.revoke({ id: app.id })}
      onRevoked={onRevoked}
    >
      {app.hosts.length > 0 && (
        <p className="muted">
          {app.hosts.map((host) => (
            <bdi key={host}>{host} </bdi>
          ))}
        </p>
      )}
      {app.scopes.map((scope) => (
        <p key={scope}>{t(scopeTexts[scope])}</p>
      ))}
      <p className="muted">
        {t('lastActive', { age: formatAge(app.lastActive) })}
        {' · '}
        {t('granted', { time: formatTime(app.createdAt) })}
        {' · '}
        {t('expires', { time: formatTime(app.expiresAt) })}
      </p>
    </Revocable>
  )
}
