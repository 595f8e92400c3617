import { useLanguage } from '../language.tsx'

/** Marks a change that the page sends when the connection is back. `isPaused` is a value of the mutation. */
export function Waiting({ isPaused }: { isPaused: boolean }) {
  const { t } = useLanguage()
  return isPaused && <small className="badge waiting">{t('waiting')}</small>
}
