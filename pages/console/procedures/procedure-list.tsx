import { type ReactNode, useEffect, useRef, useState } from 'react'

import type { ProcedureDescription } from '../../../engine/openapi/procedure-description.ts'
import { moveBetween } from '../arrows.ts'
import { Marked } from '../code/marked.tsx'
import { useSearchKeys } from './search-keys.ts'
import { useTexts } from './texts.ts'

/** A found procedure, and the fields and errors by which the search has found the procedure. */
interface Hit {
  procedure: ProcedureDescription
  fields: readonly string[]
  /** With their statuses: `404 NOT_FOUND`. */
  codes: readonly string[]
}

/** Finds the procedures that contain every word of the search: in their names and texts, or in their fields and errors. */
function find(procedures: readonly ProcedureDescription[], search: string): readonly Hit[] {
  const words = search.trim().toLowerCase().split(/\s+/)
  return procedures.flatMap((procedure) => {
    const { operation, path, summary, method, input, output, errors } = procedure
    const text = [operation, method, path, summary].join(' ').toLowerCase()
    const others = words.filter((word) => !text.includes(word))
    const isOther = (name: string) => others.some((word) => name.toLowerCase().includes(word))
    const names = [input, output].flatMap((schema) => Object.keys(schema?.properties ?? {}))
    const fields = [...new Set(names)].filter(isOther)
    const codes = errors.map(({ status, code }) => `${status} ${code}`).filter(isOther)
    const found = [...fields, ...codes].join(' ').toLowerCase()
    return others.every((word) => found.includes(word)) ? [{ procedure, fields, codes }] : []
  })
}

const moveBetweenLinks = moveBetween('input, li a')

interface Props {
  procedures: readonly ProcedureDescription[]
  /** The selected procedure. Empty for none. */
  operation: string
  addressOf: (operation: string) => string
  /** Shows the list before the search receives the focus. */
  onSearch?: () => void
  /** After a choice of a procedure. */
  onChoose?: () => void
  /** Returns links before the procedures, for a search. */
  children?: (search: string) => ReactNode
}

/**
 * The procedures by resource, with a search. Enter opens the first result, arrows move between the results, and the key `/` focuses the
 * search. So does Ctrl+K with `onSearch`, because Ctrl+K has another meaning in the console.
 */
export function ProcedureList({ procedures, operation, addressOf, onSearch, onChoose, children }: Props) {
  const { t } = useTexts()
  const [search, setSearch] = useState('')
  const input = useSearchKeys(onSearch)
  const list = useRef<HTMLElement>(null)
  const found = find(procedures, search)
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [operation])
  const resources = [...new Set(found.map(({ procedure }) => procedure.resource))]
  return (
    <section className="list" ref={list} onKeyDown={moveBetweenLinks}>
      <h2>{t('procedures')}</h2>
      <form
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
          list.current?.querySelector<HTMLElement>('li a')?.click()
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
      {children?.(search)}
      {resources.map((resource) => (
        <div key={resource}>
          <h3>{resource}</h3>
          <ul>
            {found
              .filter(({ procedure }) => procedure.resource === resource)
              .map((hit) => (
                <Entry
                  key={hit.procedure.operation}
                  hit={hit}
                  href={addressOf(hit.procedure.operation)}
                  isCurrent={hit.procedure.operation === operation}
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
  hit: Hit
  href: string
  isCurrent: boolean
  onChoose: (() => void) | undefined
}

function Entry({ hit: { procedure, fields, codes }, href, isCurrent, onChoose }: EntryProps) {
  const { t } = useTexts()
  const { operation, method, summary } = procedure
  return (
    <li>
      <a href={href} aria-current={isCurrent ? 'true' : undefined} onClick={onChoose}>
        <span className={`method ${method.toLowerCase()}`}>{method}</span>
        <span className="name">{operation}</span>
        <small>
          <Marked text={summary} />
        </small>
        <Reason label={t('field')} names={fields} />
        <Reason label={t('errorCode')} names={codes} />
      </a>
    </li>
  )
}

/** Why a search has found a procedure. */
const Reason = ({ label, names }: { label: string; names: readonly string[] }) =>
  names.length > 0 && (
    <small className="reason">
      {label}: <code>{names.join(', ')}</code>
    </small>
  )
