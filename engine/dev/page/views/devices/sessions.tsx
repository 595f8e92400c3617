import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'

import { client, orpc, type Outputs } from '../../api.ts'
import { Confirm } from '../../components/confirm.tsx'
import { nameOfDevice } from '../../components/session/device-name.ts'
import { Loaded } from '../../components/loaded.tsx'
import { useSession } from '../../components/session/session.tsx'
import { useLanguage } from '../../language.tsx'
import { useOutcome } from './outcome.tsx'
import { Revocable } from './revocable.tsx'

type Device = Outputs['sessions']['list']['sessions'][number]

export function DeviceList() {
  const { t } = useLanguage()
  const sessions = useQuery(orpc.sessions.list.queryOptions())
  const apps = useQuery(orpc.apps.list.queryOptions())
  const queryClient = useQueryClient()
  const isOwner = !useSession()?.session.impersonatedBy
  const { heading, announce, outcome } = useOutcome()

  const refresh = async (message: string) => {
    await queryClient.invalidateQueries({ queryKey: orpc.sessions.key() })
    announce(message)
  }

  return (
    <section aria-labelledby="devices-title">
      <h2 id="devices-title" className="hidden" ref={heading} tabIndex={-1}>
        {t('devices')}
      </h2>
      <p className="muted">{t('devicesExplanation')}</p>
      {outcome}
      <Loaded query={sessions}>
        {(list) => (
          <Loaded query={apps}>
            {(granted) => {
              const devices = withoutApps(list.sessions, granted.apps)
              return (
                <>
                  <ul aria-labelledby="devices-title">
                    {devices.map((device) => (
                      <DeviceItem
                        key={device.id}
                        device={device}
                        onRevoked={() => refresh(t('deviceRevoked'))}
                      />
                    ))}
                  </ul>
                  {isOwner && devices.length > 1 && (
                    <RevokeOthers onRevoked={(count) => refresh(t('othersRevoked', { count }))} />
                  )}
                </>
              )
            }}
          </Loaded>
        )}
      </Loaded>
    </section>
  )
}

/** Returns the sessions that are no grants of apps, the current session first. */
const withoutApps = (sessions: Device[], apps: { id: string }[]) =>
  sessions
    .filter(({ id }) => !apps.some((app) => app.id === id))
    .sort((a, b) => Number(b.isCurrent) - Number(a.isCurrent))

/** Maximum length of a user agent on the page, in characters. */
const MAX_USER_AGENT = 200

const shorten = (text: string) => (text.length > MAX_USER_AGENT ? `${text.slice(0, MAX_USER_AGENT)}…` : text)

function DeviceItem({ device, onRevoked }: { device: Device; onRevoked: () => Promise<void> }) {
  const { t, formatAge, formatTime } = useLanguage()
  const { userAgent, ipAddress } = device
  const name = nameOfDevice(device)
  return (
    <Revocable
      title={<bdi>{name ?? t('unknownDevice')}</bdi>}
      isCurrent={device.isCurrent}
      revoke={() => client.sessions.revoke({ revokeSessionToken: device.token })}
      onRevoked={onRevoked}
    >
      {!name && userAgent && (
        <p className="muted text" dir="auto">
          {shorten(userAgent)}
        </p>
      )}
      <p className="muted">
        {ipAddress ? t('address', { address: ipAddress }) : t('addressUnknown')}
        {' · '}
        {t('lastActive', { age: formatAge(device.lastActive) })}
        {' · '}
        {t('signedIn', { time: formatTime(device.createdAt) })}
      </p>
    </Revocable>
  )
}

function RevokeOthers({ onRevoked }: { onRevoked: (count: number) => Promise<void> }) {
  const { t } = useLanguage()
  const [isOpen, setOpen] = useState(false)
  const revoke = useMutation(
    orpc.sessions.revokeOthers.mutationOptions({
      onSuccess: async ({ revokedCount }) => {
        setOpen(false)
        await onRevoked(revokedCount)
      },
    }),
  )
  return (
    <>
      <button
        className="danger"
        onClick={() => {
          setOpen(true)
        }}
      >
        {t('revokeOthers')}
      </button>
      {isOpen && (
        <Confirm
          title={t('revokeOthersQuestion')}
          action={t('revokeOthers')}
          isPending={revoke.isPending}
          error={revoke.error}
          onConfirm={() => {
            revoke.mutate(undefined)
          }}
          onClose={() => {
            setOpen(false)
            revoke.reset()
          }}
        >
          <p>{t('revokeOthersExplanation')}</p>
        </Confirm>
      )}
    </>
  )
}
