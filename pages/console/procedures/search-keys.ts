import { useEffect, useRef } from 'react'

/** Returns a ref for the field that the key `/` focuses, and Ctrl+K with `onSearch`. */
export function useSearchKeys(onSearch?: () => void) {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const handle = (event: KeyboardEvent) => {
      const isTyping =
        event.target instanceof HTMLElement &&
        event.target.closest('input:not([type=radio], [type=checkbox]), textarea, select') !== null
      const hasModifier = event.ctrlKey || event.metaKey
      const isSlash = event.key === '/' && !isTyping && !hasModifier && !event.altKey
      const isControlK = onSearch !== undefined && event.key === 'k' && hasModifier && !event.altKey
      if (!isSlash && !isControlK) return
      event.preventDefault()
      onSearch?.()
      input.current?.focus()
    }
    addEventListener('keydown', handle)
    return () => {
      removeEventListener('keydown', handle)
    }
  }, [onSearch])
  return input
}
