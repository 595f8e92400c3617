import { useEffect, useState } from 'react'

import { useModal } from '../../../engine/dev/page/components/use-modal.ts'

const shortcuts = [
  { keys: ['Ctrl', 'K'], effect: 'Search procedures, tables, requests and people' },
  { keys: ['/'], effect: 'Search in the list of procedures' },
  { keys: ['Ctrl', 'Enter'], effect: 'Call the procedure of the form' },
  { keys: ['↑', '↓'], effect: 'Select another request' },
  { keys: ['Enter'], effect: 'Open the selected row or result' },
  { keys: ['Escape'], effect: 'Close details and dialogs' },
  { keys: ['?'], effect: 'Show these shortcuts' },
]

const isTyping = ({ target }: KeyboardEvent) =>
  target instanceof HTMLElement && target.closest('input, textarea, select, dialog') !== null

/** The button and the key `?` show the shortcuts of the console. */
export function Shortcuts() {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const handle = (event: KeyboardEvent) => {
      if (event.key !== '?' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return
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
        className="secondary small shortcuts-button"
        aria-haspopup="dialog"
        aria-keyshortcuts="?"
        aria-label="Shortcuts"
        onClick={() => {
          setOpen(true)
        }}
      >
        <kbd>?</kbd>
      </button>
      {isOpen && (
        <ShortcutList
          onClose={() => {
            setOpen(false)
          }}
        />
      )}
    </>
  )
}

function ShortcutList({ onClose }: { onClose: () => void }) {
  return (
    <dialog {...useModal(onClose)} className="question shortcuts" aria-labelledby="shortcuts-title">
      <article>
        <h3 id="shortcuts-title">Shortcuts</h3>
        <dl className="facts">
          {shortcuts.map(({ keys, effect }) => (
            <div key={effect}>
              <dt>
                {keys.map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{effect}</dd>
            </div>
          ))}
        </dl>
        <div className="row">
          <button type="button" className="secondary" onClick={onClose}>
            Close
          </button>
        </div>
      </article>
    </dialog>
  )
}
