import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useId } from 'react'

import { codeOf } from '../../query-client.ts'
import { Problem } from '../../components/problem.tsx'
import { useSession } from '../../components/session/session.tsx'
import { useLanguage } from '../../language.tsx'

/** The codes of a device or an app that was revoked elsewhere. */
const REVOKED = ['SESSION_NOT_FOUND', 'NOT_FOUND']

interface Props {
  title: ReactNode
  isCurrent?: boolean
  revoke: () => Promise<unknown>
  /** Called after the device or the app has lost its access. The promise ends when the list is current. */
  onRevoked: () => Promise<unknown>
  children: ReactNode
}

/** A device or an app in a list, with the button that ends its access. */
export function Revocable({ title, isCurrent = false, revoke, onRevoked, children }: Props) {
  const { t } = useLanguage()
  const titleId = useId()
  // An administrator who acts as another person cannot revoke.
  const isOwner = !useSession()?.session.impersonatedBy
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      revoke().catch((reason: unknown) => {
        if (!REVOKED.includes(codeOf(reason) ?? '')) throw reason
      }),
    onSuccess: onRevoked,
  })
  return (
    <li className="entry">
      <div className="grow">
        <p id={titleId}>
          <strong>{title}</strong> {isCurrent && <mark>{t('thisDevice')}</mark>}
        </p>
        {children}
        <Problem error={error} />
      </div>
      {isOwner && !isCurrent && (
        <button
          className="secondary"
          aria-describedby={titleId}
          aria-busy={isPending}
          onClick={() => {
            mutate()
          }}
        >
          {t('revoke')}
        </button>
      )}
    </li>
  )
}
