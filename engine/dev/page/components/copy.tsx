import { useMutation } from '@tanstack/react-query'

import { useLanguage } from '../language.tsx'

/** Copies a text to the clipboard. Shows nothing without TLS, because browsers then offer no clipboard. */
export function Copy({ label, text }: { label: string; text: string }) {
  const { t } = useLanguage()
  const copy = useMutation({ mutationFn: () => navigator.clipboard.writeText(text) })
  if (!window.isSecureContext) return null
  return (
    <div className="row">
      <button
        className="secondary"
        onClick={() => {
          copy.mutate()
        }}
      >
        {label}
      </button>
      <span role="status">{copy.isSuccess ? t('copied') : copy.isError && t('notCopied')}</span>
    </div>
  )
}
