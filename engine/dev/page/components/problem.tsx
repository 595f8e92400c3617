import { isValidationError, retryTimeOf } from 'tallystick-contract/internal'

import { codeOf } from '../query-client.ts'
import { useLanguage } from '../language.tsx'
import { type FieldRules, ruleOf } from './forms/bounds.ts'
import { useSecondsUntil } from './countdown.ts'

/** From this number of seconds on, a wait is shown in minutes. */
const MINUTES_FROM = 90

interface Props {
  error: unknown
  /** Shows the button for another attempt. */
  onRetry?: (() => void) | undefined
  /** The fields of the form by their names in the contract, for the message about an invalid field. */
  fields?: Readonly<Partial<Record<string, FieldRules>>>
}

/** Shows an error, with the time until a limited request is accepted again. Shows nothing without an error. */
export function Problem({ error, onRetry, fields }: Props) {
  const { t } = useLanguage()
  const seconds = useSecondsUntil(retryTimeOf(error))
  if (!error) return null
  return (
    <div role="alert" className="problem">
      <Reason error={error} seconds={seconds} fields={fields} />
      {onRetry && (
        <button disabled={seconds > 0} onClick={onRetry}>
          {t('retry')}
        </button>
      )}
    </div>
  )
}

function Reason({ error, seconds, fields = {} }: Pick<Props, 'error' | 'fields'> & { seconds: number }) {
  const language = useLanguage()
  const { t, findErrorText } = language
  // Screen readers announce the first text and the end of the wait, because a timer is no live region.
  if (seconds > 0)
    return (
      <p role="timer">
        {seconds < MINUTES_FROM
          ? t('limitSeconds', { count: seconds })
          : t('limitMinutes', { count: Math.ceil(seconds / 60) })}
      </p>
    )
  if (retryTimeOf(error)) return <p>{t('limitEnded')}</p>
  const issues = isValidationError(error) ? error.data.issues.filter(({ path }) => path) : []
  if (issues.length === 0)
    return <p>{findErrorText(codeOf(error) ?? 'NETWORK') ?? t('INTERNAL_SERVER_ERROR')}</p>
  return issues.map(({ path, message }) => {
    const field = fields[path] ?? { label: path }
    const rule = ruleOf(field, language)
    return (
      <p key={path + message}>
        <strong>{t('fieldLabel', { field: field.label })}</strong>{' '}
        {/* The messages of schemas are in English. */}
        {rule ?? <bdi lang="en">{message}</bdi>}
      </p>
    )
  })
}
