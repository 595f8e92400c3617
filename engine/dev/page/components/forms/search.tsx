import { useEffect, useRef, useState } from 'react'

import { useLanguage } from '../../language.tsx'
import { useParameter } from '../../address.ts'

/** Time without a further key before the list is searched, in milliseconds. */
const DELAY = 250

/** Maximum length of a search, in UTF-16 code units. The service accepts 100 code points. */
const MAX_LENGTH = 100

/**
 * The text of a search, and the text of the requests: `q` follows the text after a short delay. Undefined without a text. `name` is the
 * parameter of the address: views that are parts of one view need different names.
 *
 * @example
 * const search = useSearch()
 * <Search {...search} />
 */
export function useSearch(name = 'q') {
  const [q, setQ] = useParameter(name, { replace: true })
  const [text, setText] = useState(q ?? '')
  const written = useRef(q)

  useEffect(() => {
    // The person has opened another address.
    if (q !== written.current) setText(q ?? '')
    written.current = q
  }, [q])

  useEffect(() => {
    const timer = setTimeout(() => {
      const next = text.trim() || undefined
      if (next === written.current) return
      written.current = next
      setQ(next)
    }, DELAY)
    return () => {
      clearTimeout(timer)
    }
  }, [text, setQ])
  return { text, q: q?.slice(0, MAX_LENGTH), setText }
}

interface Props extends Pick<ReturnType<typeof useSearch>, 'text' | 'setText'> {
  /** The name of the field. By default, `Search`. */
  label?: string
}

/** The field that searches a list. */
export function Search({ text, setText, label }: Props) {
  const { t } = useLanguage()
  const name = label ?? t('search')
  return (
    <input
      type="search"
      className="search"
      aria-label={name}
      aria-keyshortcuts="/"
      placeholder={name}
      autoComplete="off"
      maxLength={MAX_LENGTH}
      value={text}
      onChange={({ target }) => {
        setText(target.value)
      }}
    />
  )
}
