import { type ReactNode, useEffect, useRef, useState } from 'react'

import type { ProcedureDescription } from '../../../engine/openapi/procedure-description.ts'
import { Marked } from '../code/marked.tsx'
import { useTexts } from './texts.ts'

/** Whether the procedure contains every word of the search: in its names, or in its fields and errors. */
function matches({ operation, path, summary, method, ...procedure }: ProcedureDescription, search: string) {
  const fields = [procedure.input, procedure.output].flatMap((schema) =>
    Object.keys(schema?.properties ?? {}),
  )
  const codes = procedure.errors.map(({ code }) => code)
  const text = [operation, method, path, summary, ...fields, ...codes].join(' ').toLowerCase()
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

interface Props {
  procedures: readonly ProcedureDescription[]
  /** The selected procedure. Empty for none. */
  operation: string
  addressOf: (operation: string) => string
  /** Shows the list before the search receives the focus. */
  onSearch?: () => void
  /** After a choice of a procedure. */
  onChoose?: () => void
  /** Links before the procedures. */
  children?: ReactNode
}

/**
 * The procedures by resource, with a search. Enter opens the first found procedure, and the key `/` focuses the search. So does Ctrl+K
 * with `onSearch`, because Ctrl+K has another meaning in the console.
 */
export function ProcedureList({ procedures, operation, addressOf, onSearch, onChoose, children }: Props) {
  const { t } = useTexts()
  const [search, setSearch] = useState('')
  const input = useSearchKeys(onSearch)
  const list = useRef<HTMLElement>(null)
  const found = procedures.filter((procedure) => matches(procedure, search.trim()))
  const [first] = found
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [operation])
  const resources = [...new Set(found.map(({ resource }) => resource))]
  return (
    <section className="list" ref={list}>
      <h2>{t('procedures')}</h2>
      <form
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
          if (!first) return
          location.hash = addressOf(first.operation)
          onChoose?.()
        }}
      >
        <input
          ref={input}
          type="search"
          aria-label={t('searchProcedures')}
          aria-keyshortcuts={onSearch ? '/ Control+K' : '/'}
          placeholder={`${t('searchProcedures')}   /`}
          autoComplete="off"
          spellCheck={false}
          value={search}
          onChange={({ target }) => {
            setSearch(target.value)
          }}
        />
      </form>
      <p role="status" className={search ? 'muted' : 'hidden'}>
        {search && t('foundProcedures', { count: found.length, total: procedures.length })}
      </p>
      {children}
      {resources.map((resource) => (
        <div key={resource}>
          <h3>{resource}</h3>
          <ul>
            {found
              .filter((procedure) => procedure.resource === resource)
              .map((procedure) => (
                <Entry
                  key={procedure.operation}
                  procedure={procedure}
                  href={addressOf(procedure.operation)}
                  isCurrent={procedure.operation === operation}
                  onChoose={onChoose}
                />
              ))}
          </ul>
        </div>
      ))}
    </section>
  )
}

interface EntryProps {
  procedure: ProcedureDescription
  href: string
  isCurrent: boolean
  onChoose: (() => void) | undefined
}

function Entry({ procedure, href, isCurrent, onChoose }: EntryProps) {
  const { operation, method, summary } = procedure
  return (
    <li>
      <a href={href} aria-current={isCurrent ? 'true' : undefined} onClick={onChoose}>
        <span className={`method ${method.toLowerCase()}`}>{method}</span>
        <span className="name">{operation}</span>
        <small>
          <Marked text={summary} />
        </small>
      </a>
    </li>
  )
}

/** Returns a ref for the field that the key `/` focuses, and Ctrl+K with `onSearch`. */
function useSearchKeys(onSearch: (() => void) | undefined) {
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
