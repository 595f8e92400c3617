import { useRef, useState } from 'react'

/**
 * Announces the outcome of an action that removes the focused button. The heading then receives the focus, so that
 * people who use the keyboard stay in the section.
 */
export function useOutcome() {
  const heading = useRef<HTMLHeadingElement>(null)
  const [message, setMessage] = useState('')
  const announce = (text: string) => {
    setMessage(text)
    heading.current?.focus()
  }
  return {
    heading,
    announce,
    outcome: (
      <p role="status" className="outcome">
        {message}
      </p>
    ),
  }
}
