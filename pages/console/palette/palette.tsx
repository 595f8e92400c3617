import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'

import { MAX_TEXT } from '../../../engine/console/bounds.ts'
import { useResults } from './results.ts'

/** A search over procedures, tables, requests and people, which Ctrl+K opens. */
export function Palette() {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const handle = (event: globalThis.KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey) return
      event.preventDefault()
      setOpen(true)
    }
    addEventListener('keydown', handle)
    return () => {
      removeEventListener('keydown', handle)
    }
  }, [])
  return (
    <>
      <button
        type="button"
        className="secondary small"
        aria-haspopup="dialog"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => {
          setOpen(true)
        }}
      >
        Search <kbd>Ctrl K</kbd>
      </button>
      {isOpen && (
        <PaletteDialog
          onClose={() => {
            setOpen(false)
          }}
        />
      )}
    </>
  )
}

function PaletteDialog({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    dialog.current?.showModal()
    // `showModal` focuses the article if its results scroll.
    dialog.current?.querySelector('input')?.focus()
  }, [])
  const close = () => {
    dialog.current?.close()
  }
  return (
    <dialog ref={dialog} className="palette" aria-label="Search" onClose={onClose}>
      <article>
        <Search onClose={close} />
      </article>
    </dialog>
  )
}

function Search({ onClose }: { onClose: () => void }) {
  const id = useId()
  const [text, setText] = useState('')
  const [index, setIndex] = useState(0)
  const results = useResults(text)
  const current = Math.min(index, results.length - 1)
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => {
    list.current?.children[current]?.scrollIntoView({ block: 'nearest' })
  }, [current])
  const open = (address: string | undefined) => {
    if (address === undefined) return
    onClose()
    location.hash = address
  }
  const keys: Partial<Record<string, () => void>> = {
    ArrowDown: () => {
      setIndex((current + 1) % results.length)
    },
    ArrowUp: () => {
      setIndex((current + results.length - 1) % results.length)
    },
    Enter: () => {
      open(results[current]?.address)
    },
  }
  const handle = (event: KeyboardEvent) => {
    const action = keys[event.key]
    if (!action || event.nativeEvent.isComposing || results.length === 0) return
    event.preventDefault()
    action()
  }
  return (
    <>
      <input
        type="text"
        role="combobox"
        aria-label="Search procedures, tables, requests and people"
        aria-expanded={results.length > 0}
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={results.length > 0 ? `${id}-${current}` : undefined}
        placeholder="Procedures, tables, requests, people"
        maxLength={MAX_TEXT}
        autoComplete="off"
        spellCheck={false}
        value={text}
        onKeyDown={handle}
        onChange={({ target }) => {
          setText(target.value)
          setIndex(0)
        }}
      />
      <p role="status" className={results.length > 0 ? 'hidden' : 'muted'}>
        {results.length > 0
          ? `${results.length} ${results.length === 1 ? 'result' : 'results'}`
          : 'Nothing found.'}
      </p>
      <ul id={id} ref={list} role="listbox" aria-label="Results" hidden={results.length === 0}>
        {results.map(({ kind, name, detail, address }, position) => (
          <li
            key={`${kind} ${address}`}
            id={`${id}-${position}`}
            role="option"
            aria-selected={position === current}
            onMouseDown={(event) => {
              // The focus stays in the field.
              event.preventDefault()
            }}
            onClick={() => {
              open(address)
            }}
          >
            <span className="name">{name}</span>
            <small>{detail}</small>
            <small className="kind">{kind}</small>
          </li>
        ))}
      </ul>
    </>
  )
}
