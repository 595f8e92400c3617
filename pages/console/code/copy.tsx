import { useMemo } from 'react'

import { CopyButton } from '../../engine/dev/page/components/copy-button.tsx'
import { colorJson } from './json.tsx'

/** Copies a text to the clipboard. `what` names the text for screen readers: `Copy the command`. */
export const Copy = ({ text, what }: { text: string; what: string }) => (
  <CopyButton text={text} label="Copy" name={`Copy ${what}`} copied="Copied" notCopied="Not copied" />
)

/**
 * A block of code with a button that copies the code. `name` names the code, for example `the command`. The button makes
 * the block, which can scroll, reachable with the keyboard.
 */
export const Code = ({ text, name }: { text: string; name: string }) => (
  <div className="code">
    <Copy text={text} what={name} />
    <pre>
      <code>{useMemo(() => colorJson(text), [text])}</code>
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
