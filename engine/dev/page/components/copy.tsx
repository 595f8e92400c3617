import { useLanguage } from '../language.tsx'
import { CopyButton } from './copy-button.tsx'

/**
 * Copies a text to the clipboard. `name` tells screen readers which text, if several buttons have the same label.
 *
 * @example
 * <Copy label={t('copyAddress')} text={address} />
 */
export function Copy(props: { label: string; name?: string; text: string }) {
  const { t } = useLanguage()
  return (
    <div className="row">
      <CopyButton {...props} copied={t('copied')} notCopied={t('notCopied')} />
    </div>
  )
}
