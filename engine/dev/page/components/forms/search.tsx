import { useEffect, useState } from 'react'

import { useLanguage } from '../../language.tsx'

/** Time without a further key before the list is searched, in milliseconds. */
const DELAY = 250

/** Maximum length of a search, in UTF-16 code units. The service accepts 100 code points. */
const MAX_LENGTH = 100

/** The text of a search, and the text of the requests: `q` follows the text after a short delay. Undefined without a text. */
export function useSearch() {
  const [text, setText] = useState('')
  const [q, setQ] = useState<string>()
  useEffect(() => {
    const timer = setTimeout(() => {
      setQ(text.trim() || undefined)
    }, DELAY)
    return () => {
      clearTimeout(timer)
    }
  }, [text])
  return { text, q, setText }
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
