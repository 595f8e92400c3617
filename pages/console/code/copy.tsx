import { useMemo } from 'react'

import { CopyButton } from '../../../engine/dev/page/components/copy-button.tsx'
import { useTexts } from '../procedures/texts.ts'
import { colored, type Language } from './colors.tsx'

/** Copies a text to the clipboard. `what` names the text for screen readers: `Copy the command`. */
export function Copy({ text, what }: { text: string; what: string }) {
  const { t } = useTexts()
  const label = t('copy')
  return (
    <CopyButton
      text={text}
      label={label}
      name={`${label} ${what}`}
      copied={t('copied')}
      notCopied={t('notCopied')}
    />
  )
}

interface CodeProps {
  text: string
  /** Names the code for screen readers, for example `the command`. */
  name: string
  /** By default, JSON if the text is JSON. */
  language?: Language
}

/** A block of code with a button that copies the code. The button makes the block, which can scroll, reachable with the keyboard. */
export const Code = ({ text, name, language }: CodeProps) => (
  <div className="code">
    <Copy text={text} what={name} />
    <pre>
      <code>{useMemo(() => colored(text, language), [text, language])}</code>
    </pre>
  </div>
)

/** Returns the text of a JSON value with indents. Returns other texts unchanged. */
export function prettyJson(text: string) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
