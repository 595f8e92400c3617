import { useEffect, useMemo, useState } from 'react'

import { colorJson } from './json.tsx'

/** Time that the button shows the outcome, in milliseconds. */
const SHOWN = 2000

/** Copies a text to the clipboard. `what` names the text for screen readers: `Copy the command`. */
export function Copy({ text, what }: { text: string; what: string }) {
  const [outcome, setOutcome] = useState('')

  useEffect(() => {
    if (!outcome) return
    const timer = setTimeout(() => {
      setOutcome('')
    }, SHOWN)
    return () => {
      clearTimeout(timer)
    }
  }, [outcome])

  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setOutcome('Copied')
    } catch {
      setOutcome('Not copied')
    }
  }
  return (
    <>
      <button
        type="button"
        className="secondary copy"
        aria-label={`Copy ${what}`}
        onClick={() => {
          void copy()
        }}
      >
        {outcome || 'Copy'}
      </button>
      <span role="status" className="hidden">
        {outcome}
      </span>
    </>
  )
}

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
