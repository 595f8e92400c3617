import { codeOf } from '../api.ts'
import { useLanguage } from '../language.tsx'

/** Shows an error, and the button for another attempt if `onRetry` is given. Shows nothing without an error. */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { t, findErrorText } = useLanguage()
  if (!error) return null
  const code = codeOf(error) ?? 'NETWORK'
  return (
    <div role="alert" className="problem">
      <p>{findErrorText(code) ?? t('INTERNAL_SERVER_ERROR')}</p>
      {onRetry && <button onClick={onRetry}>{t('retry')}</button>}
    </div>
  )
}
