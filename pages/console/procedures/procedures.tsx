import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'

import type { ProcedureDescription } from '../../../engine/console/contract.ts'
import { proceduresQuery } from '../client.ts'
import { Marked } from '../code/marked.tsx'
import { addressOf } from '../location.ts'
import { Loaded } from '../problem.tsx'
import { Procedure } from './procedure.tsx'

/** Whether the procedure contains every word of the search. */
function matches({ operation, path, summary, method }: ProcedureDescription, search: string) {
  const text = `${operation} ${method} ${path} ${summary}`.toLowerCase()
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

export function Procedures({ operation }: { operation: string }) {
  const query = useQuery(proceduresQuery)
  return (
    <Loaded query={query}>
      {(procedures) => {
        const selected = procedures.find((each) => each.operation === operation)
        return (
          <div className={operation ? 'split has-detail' : 'split'}>
            <ProcedureList procedures={procedures} operation={operation} />
            <div className="detail">
              {operation && (
                <a className="back" href={addressOf('procedures')}>
                  ← All procedures
                </a>
              )}
              {selected && <Procedure key={operation} procedure={selected} />}
              {operation && !selected && (
                <section>
                  <p>This service has no procedure {operation}.</p>
                </section>
              )}
              {!operation && (
                <section className="empty">
                  <p className="muted">
                    Select a procedure to see its access, errors and schemas, and to call the procedure.
                  </p>
                </section>
              )}
            </div>
          </div>
        )
      }}
    </Loaded>
  )
}

interface ListProps {
  procedures: readonly ProcedureDescription[]
  operation: string
}

function ProcedureList({ procedures, operation }: ListProps) {
  const [search, setSearch] = useState('')
  const input = useSlashKey()
  const list = useRef<HTMLElement>(null)
  const found = procedures.filter((procedure) => matches(procedure, search.trim()))
  const [first] = found
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [operation])
  const resources = [...new Set(found.map(({ resource }) => resource))]
  return (
    <section className="list" ref={list}>
      <h2>Procedures</h2>
      <form
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
          if (first) location.hash = addressOf('procedures', first.operation)
        }}
      >
        <input
          ref={input}
          type="search"
          aria-label="Search procedures"
          aria-keyshortcuts="/"
          placeholder="Search   /"
          autoComplete="off"
          spellCheck={false}
          value={search}
          onChange={({ target }) => {
            setSearch(target.value)
          }}
        />
      </form>
      <p role="status" className={search ? 'muted' : 'hidden'}>
        {search && `${found.length} of ${procedures.length} procedures`}
      </p>
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
                  isCurrent={procedure.operation === operation}
                />
              ))}
          </ul>
        </div>
      ))}
    </section>
  )
}

function Entry({ procedure, isCurrent }: { procedure: ProcedureDescription; isCurrent: boolean }) {
  const { operation, method, summary } = procedure
  return (
    <li>
      <a href={addressOf('procedures', operation)} aria-current={isCurrent ? 'true' : undefined}>
        <span className={`method ${method.toLowerCase()}`}>{method}</span>
        <span className="name">{operation}</span>
        <small>
          <Marked text={summary} />
        </small>
      </a>
    </li>
  )
}

/** Returns a ref for the field that the key `/` focuses. */
function useSlashKey() {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const handle = (event: KeyboardEvent) => {
      const isTyping =
        event.target instanceof HTMLElement && event.target.closest('input, textarea, select') !== null
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      input.current?.focus()
    }
    addEventListener('keydown', handle)
    return () => {
      removeEventListener('keydown', handle)
    }
  }, [])
  return input
}
