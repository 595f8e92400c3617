import type { ReactNode, Ref } from 'react'

import { useLanguage } from '../../language.tsx'

/** Shows two versions of an item, and lets the person choose. Announces the message. */
export function Conflict({
  ref,
  message,
  mine,
  theirs,
  isPending,
  onKeep,
  onTake,
}: {
  ref: Ref<HTMLDivElement>
  message: string
  mine: ReactNode
  theirs: ReactNode
  isPending: boolean
  onKeep: () => void
  onTake: () => void
}) {
  const { t } = useLanguage()
  return (
    <div ref={ref} tabIndex={-1} className="conflict">
      <p role="alert">{message}</p>
      <div className="versions">
        <div>
          <h2>{t('mine')}</h2>
          {mine}
          <button type="button" aria-busy={isPending} disabled={isPending} onClick={onKeep}>
            {t('keepMine')}
          </button>
        </div>
        <div>
          <h2>{t('theirs')}</h2>
          {theirs}
          <button type="button" className="secondary" disabled={isPending} onClick={onTake}>
            {t('takeTheirs')}
          </button>
        </div>
      </div>
    </div>
  )
}
