import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query'
import { tokenClientIds } from 'tallystick-contract/internal'

import { client, orpc, type Outputs } from '../../api.ts'
import { Loaded } from '../../components/loaded.tsx'
import { useLanguage } from '../../language.tsx'
import type { Message } from '../../texts.ts'
import { useOutcome } from './outcome.tsx'
import { Revocable } from './revocable.tsx'

type App = Outputs['apps']['list']['apps'][number]

/** The list of apps and personal tokens. */
export const useApps = (): UseQueryResult<Outputs['apps']['list']> => useQuery(orpc.apps.list.queryOptions())

export const isToken = ({ clientId }: App) => Object.values(tokenClientIds).includes(clientId)

export function AppList() {
  const { t } = useLanguage()
  const query = useApps()
  const { heading, announce, outcome } = useOutcome()
  return (
    <section aria-labelledby="apps-title">
      <h2 id="apps-title" ref={heading} tabIndex={-1}>
        {t('apps')}
      </h2>
      <p className="muted">{t('appsExplanation')}</p>
      {outcome}
      <Loaded query={query}>
        {({ apps }) => (
          <AppItems
            apps={apps.filter((app) => !isToken(app))}
            titleId="apps-title"
            empty="noApps"
            onRevoked={() => {
              announce(t('appRevoked'))
            }}
          />
        )}
      </Loaded>
    </section>
  )
}

interface Props {
  apps: App[]
  titleId: string
  /** Shown instead of an empty list. */
  empty?: Message
  onRevoked: () => void
}

/** Apps or personal tokens, which the person can revoke. */
export function AppItems({ apps, titleId, empty, onRevoked }: Props) {
  const { t } = useLanguage()
  const refresh = useRefreshApps()
  if (apps.length === 0) return empty && <p>{t(empty)}</p>
  return (
    <ul aria-labelledby={titleId}>
      {apps.map((app) => (
        <AppItem key={app.id} app={app} onRevoked={() => refresh().then(onRevoked)} />
      ))}
    </ul>
  )
}

export function useRefreshApps() {
  const queryClient = useQueryClient()
  return async () => {
    // In this order, because a session that is no app is shown as a device.
    await queryClient.invalidateQueries({ queryKey: orpc.sessions.key() })
    await queryClient.invalidateQueries({ queryKey: orpc.apps.key() })
  }
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
      {isToken(app) && (
        <p className="muted">{t(app.clientId === tokenClientIds.mcp ? 'tokenMcp' : 'tokenService')}</p>
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
